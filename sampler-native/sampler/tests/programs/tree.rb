# A tree of functions, in each of which time passes: the name of a function is that of its caller with one letter more, however it is
# called. Functions whose names begin otherwise may stand between.
class Tree
  def self.each_of(number)
    yield number
  end

  def method_missing(name, *arguments)
    $main.__send__(name.to_s.delete_suffix("!"), *arguments)
  end
end

$main = self
WAYS = [
  "x += %1$s(n)",
  "x += [n].map { |m| %1$s(m) }[0]",
  "x += send(:%1$s, n)",
  "Tree.each_of(n) { |m| x += %1$s(m) }",
  "[n].each(&method(:%1$s))",
  "x += Tree.new.%1$s!(n)",
  "begin; raise 'no'; rescue; x += %1$s(n); end",
  "x += eval('%1$s(n)')",
  "Fiber.new { x += %1$s(n) }.resume",
  "[2, 1].sort_by { |m| m > 1 ? %1$s(n) : 0 }",
  "begin; x += 1; ensure; x += %1$s(n); end",
  "Thread.new { x += %1$s(n) }.join"
].freeze
$way = 0

def grow(name, depth)
  calls = (depth.zero? ? [] : %w[a b c]).map do |letter|
    grow(name + letter, depth - 1)
    $way += 1
    format(WAYS[$way % (WAYS.size - 1)], name + letter)
  end
  eval("def #{name}(n)
    x = n
    20.times { |i| x = x * 31 %% 1000003 + i %% 7 }
    #{calls.join("\n")}
    x
  end".gsub("%%", "%"))
end

grow("f", 5)
loop { f(3) }
