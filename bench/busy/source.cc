// Something for C++ compilers to do.
#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <string>
#include <unordered_map>
#include <vector>

template <int N> struct Table {
  std::map<std::string, std::vector<std::function<int(int)>>> of;
  int fold(const std::string &name) {
    int sum = 0;
    for (auto &f : of[name])
      sum += f(N);
    return sum + Table<N - 1>().fold(name + std::to_string(N));
  }
};
template <> struct Table<0> {
  int fold(const std::string &name) { return std::regex_match(name, std::regex("[a-z]+[0-9]*")); }
};

int fold(const std::string &name) { return Table<60>().fold(name); }
