package flametop.view.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ShortNameTest {
  private static final String[] PIECES =
      ("std|::|vector|<|>|(|)|{|}|[|]|.|/| | as |impl | for |operator|()|->|const|"
              + " const|&|*|::h0123456789abcdef|.isra.0|.constprop.0|.cold| [clone .cold]|"
              + "{{closure}}|func1|$|漢字|é|😀|e\u0301|<init>|java|main|+fn@0x12f0|+0x1|@@GLIBC_2.2|"
              + "@plt|:|~|0x|a|_Z|(anonymous namespace)|bpf_prog_0123456789abcdef_x|,|;|\u200d|"
              + "{lambda(int)#1}|block in |block (2 levels) in |#")
          .split("\\|");

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // C++
        "std::vector<int, std::allocator<int> >::push_back(int const&)|60|std::vector<int, std::allocator<int> >::push_back",
        "std::vector<int, std::allocator<int> >::push_back(int const&)|40|std::vector::push_back",
        "std::vector<int, std::allocator<int> >::push_back(int const&)|20|vector::push_back",
        "std::vector<int, std::allocator<int> >::push_back(int const&)|12|push_back",
        "std::vector<int, std::allocator<int> >::push_back(int const&)|6|push_…",
        "void ns::(anonymous namespace)::run<int>(int) const|20|ns::run",
        "void ns::(anonymous namespace)::run<int>(int) const|4|run",
        "std::ostream& std::operator<< <char>(std::ostream&, char)|20|std::operator<<",
        "Less::operator()(int, int) const|18|Less::operator()",
        "std::map<int, int>::operator[](int const&)|18|map::operator[]",
        "foo(int)::{lambda(int, long)#1}::operator()(int, long) const|40|foo::{lambda#1}::operator()",
        "ns::Type::operator std::string() const|30|ns::Type::operator std::string",
        "decltype(auto) visit::apply<int>(int&&)|14|visit::apply",
        "void (*pick(int, long))(char)|6|pick",
        "cxx::name[abi:cxx11](int)|12|cxx::name",
        "memcpy@@GLIBC_2.14|10|memcpy",
        "very_long_function@plt|12|very_long_f…",
        // kernel and compilers
        "mark_page_accessed.constprop.0.isra.0|30|mark_page_accessed",
        "do_work.part.0.cold|10|do_work",
        "grow(int) [clone .constprop.0] [clone .cold]|12|grow(int)",
        "bpf_prog_6deef7357e7b4530_cpu_stacks|12|cpu_stacks",
        "entry_SYSCALL_64_after_hwframe|10|entry_SYS…",
        "__x64_sys_clock_nanosleep|20|sys_clock_nanosleep",
        "__arm64_sys_clock_nanosleep|20|sys_clock_nanosleep",
        "__libc_start_main|8|libc_st…",
        "____|3|__…",
        "libc.so.6+fn@0x88e60|18|libc.so.6+0x88e60",
        "liblzma.so.5.4.1+fn@0x17310|16|liblzma+0x17310",
        "liblzma.so.5.4.1+fn@0x17310|9|liblzma+…",
        // Rust
        "core::ptr::drop_in_place<alloc::string::String>::h0123456789abcdef|50|core::ptr::drop_in_place<alloc::string::String>",
        "core::ptr::drop_in_place<alloc::string::String>::h0123456789abcdef|26|core::ptr::drop_in_place",
        "<alloc::vec::Vec<u8> as core::io::Write>::write::h0123456789abcdef|20|Vec::write",
        "<&mut T as core::iter::Iterator>::next|8|T::next",
        "<[T]>::sort_unstable_by_key|26|[T]::sort_unstable_by_key",
        "core::iter::<impl core::iter::Iterator for my::Rows>::fold|12|Rows::fold",
        "query::execution::try_execute_query::<Cache<[u8; 8usize]>, false>|20|try_execute_query",
        "query::execution::try_execute_query::<Cache<[u8; 8usize]>, false>|30|execution::try_execute_query",
        "core::mem::swap::<u32>|9|mem::swap",
        "core::mem::swap::<u32>|8|swap",
        "std::thread::spawn::<fn(A) -> B, C>::{closure#0}|20|spawn::{closure#0}",
        "main::<lambda(int)>|8|lambda",
        "tokio::runtime::task::core::Core<T,S>::poll::{{closure}}::{{closure}}|32|poll::{{closure}}::{{closure}}",
        // Go
        "github.com/acme/db/store.(*Log).Append.func1|24|store.Log.Append.func1",
        "github.com/acme/db/store.(*Log).Append.func1|14|Append.func1",
        "net/http.(*conn).serve|20|net/http.conn.serve",
        "main.main.func1.2|12|main.func1.2",
        "slices.SortFunc[go.shape.[]int,go.shape.int]|16|slices.SortFunc",
        // Java, node, Python
        "java.util.concurrent.ThreadPoolExecutor.runWorker(Ljava/lang/Object;)V|32|ThreadPoolExecutor.runWorker",
        "int java.util.HashMap.hash(java.lang.Object)|14|HashMap.hash",
        "java.util.HashMap.<init>(int)|18|HashMap.<init>",
        "app.Main$$Lambda$14/0x000000080100c000.run|20|Main$$Lambda$14.run",
        "LazyCompile:*parseRow /srv/app/lib/csv.js:120:3|12|*parseRow",
        "py::handle_request:/srv/app/views.py|16|handle_request",
        "json.decoder.JSONDecoder.raw_decode|25|JSONDecoder.raw_decode",
        "json.decoder.JSONDecoder.raw_decode|12|raw_decode",
        "Cart.total (shop/views.py)|12|Cart.total",
        "Cart.total (shop/views.py)|6|total",
        "Cart.total.<locals>.<lambda> (shop/views.py)|30|Cart.total.<locals>.<lambda>",
        "json.decoder.<module>|18|decoder.<module>",
        // Ruby
        "Shop::Cart#total|12|Cart#total",
        "Shop::Cart#total|8|total",
        "block (2 levels) in Shop::Cart#total|30|block in Shop::Cart#total",
        "block (2 levels) in Shop::Cart#total|20|block in Cart#total",
        "block (2 levels) in Shop::Cart#total|16|block in total",
        "block (2 levels) in Shop::Cart#total|10|Cart#total",
        "rescue in Cart.total|16|rescue in total",
        "block in <main> (shop/cart.rb)|18|block in <main>",
        "Cart#<=>|5|<=>",
        // reasons and others stay what they are
        "[jit without frame pointers]|12|[jit withou…",
        "漢字の関数名前|7|漢字の…"
      })
  void of_name_keepsWhatTellsMost(String name, int room, String expected) {
    assertEquals(expected, ShortName.of(name, room));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "librustc_driver-6108105cd7e839cf.so|40|librustc_driver-6108105cd7e839cf.so",
        "librustc_driver-6108105cd7e839cf.so|14|librustc_driv…",
        "liblzma.so.5.4.1|10|liblzma",
        "[kernel]|8|[kernel]",
        "my.program.exe|8|my.prog…",
        ".so|2|.…"
      })
  void ofModule_name_keepsItsBeginning(String module, int room, String expected) {
    assertEquals(expected, ShortName.ofModule(module, room));
  }

  @Test
  void of_anyName_neverLongerNorEmptyAndTheSameAgain() {
    Random random = new Random(7);
    for (int round = 0; round < 20_000; round++) {
      StringBuilder text = new StringBuilder();
      for (int i = 1 + random.nextInt(14); i > 0; i--) {
        text.append(PIECES[random.nextInt(PIECES.length)]);
      }
      String name = text.toString();
      int room = 1 + random.nextInt(40);
      String shown = ShortName.of(name, room);
      assertTrue(TextWidth.of(shown) <= room, () -> name + " in " + room + ": " + shown);
      assertTrue(TextWidth.of(shown) > 0, () -> name + " in " + room);
      assertEquals(shown, ShortName.of(shown, room), () -> name + " in " + room);
    }
  }

  @Test
  void of_nameThatFits_isItself() {
    String name = "std::vector<int>::push_back(int)";
    assertSame(name, ShortName.of(name, name.length()));
  }

  @Test
  void of_veryLongNames_haveAForm() {
    String[] bodies = {
      "<", "(", "{", "[", "a::", "<a as b>", " as ", "operator<", "(anonymous namespace)::"
    };
    for (String body : bodies) {
      String name = body.repeat(28 * 1024 / body.length()) + "::tail(int)";
      for (int room : new int[] {1, 8, 200}) {
        String shown = ShortName.of(name, room);
        assertTrue(TextWidth.of(shown) >= 1 && TextWidth.of(shown) <= room, body);
      }
    }
    String name = "ns::f<" + "std::pair<int, long>, ".repeat(1_400) + "int>::tail(int)";
    assertEquals("ns::f::tail", ShortName.of(name, 20));
  }

  @Test
  void of_noRoom_isEmpty() {
    assertEquals("", ShortName.of("main", 0));
  }
}
