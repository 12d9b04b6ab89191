# Threads that sleep in known places: sleepers.rb FILE writes for each its number and its functions, the innermost first, each with the
# line that runs there; a function that is written in C has the line of its caller.
require "monitor"
require "json"

FILE = ARGV[0].dup.freeze
GETTID = 186
$VERBOSE = nil

# Tells who called, and what the caller calls next.
def tell(inner, frames)
  frames = frames.map { |frame| "#{frame.label}:#{frame.lineno}" }
  File.open(FILE, "a") { |file| file.write([syscall(GETTID), "#{inner}:0", *frames].join("\t") + "\n") }
end

def rest
  tell("sleep", caller_locations(0)); sleep
end

QUEUE = Queue.new

def wait_for_queue
  tell("pop", caller_locations(0)); QUEUE.pop
end

def wait_for_pipe
  pipe = IO.pipe
  tell("read", caller_locations(0)); pipe[0].read(1)
end

class Sorter
  attr_writer :rests

  def self.still
    rest
  end

  def key(one)
    rest
    one
  end

  def sorted
    [2, 1].sort_by { |one| key(one) }
  end

  def method_missing(name, *arguments)
    rest
  end

  def <=>(other)
    rest
  end
  include Comparable

  def to_json(*)
    rest
  end

  def each
    rest
    yield 1
  end
  include Enumerable

  def initialize(rests = false)
    rest if rests
  end

  define_method(:defined) do |one|
    rest
  end
end

class Finer < Sorter
  def key(one)
    super
  end
end

module Shop
  module Cart
    def self.total
      [1].each do |one|
        1.times { 1.upto(2) { rest } }
      end
    end

    module_function

    def sum
      yield
    end
  end
end

def deep(more)
  more.zero? ? rest : deep(more - 1)
end

def caught
  begin
    raise "no"
  rescue
    rest
  end
end

def ensured
  1
ensure
  rest
end

def größe
  rest
end

def far
  x = 1
  # A table of lines that has more than one block of bits.
  y = [x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9, x + 10, x + 11, x + 12, x + 13, x + 14, x + 15, x + 16]
  z = [y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11], y[12], y[13], y[14], y[15], y[0], y[1], y[2], y[3],
       y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11], y[12], y[13], y[14], y[15], y[0], y[1], y[2], y[3], y[4], y[5], y[6],
       y[4], y[5], y[6], y[7], y[8], y[9], y[10], y[11], y[12], y[13], y[14], y[15], y[0], y[1], y[2], y[3], y[4], y[5], y[6]]
  z.each { |n| n + 1 }
  z.map { |n| n + 2 }
  w = [z[1], z[2], z[3], z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11], z[12], z[13], z[14], z[15], z[0], z[1], z[2], z[3],
       z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11], z[12], z[13], z[14], z[15], z[0], z[1], z[2], z[3], z[4], z[5], z[6],
       z[4], z[5], z[6], z[7], z[8], z[9], z[10], z[11], z[12], z[13], z[14], z[15], z[0], z[1], z[2], z[3], z[4], z[5], z[6]]
  w.sum.zero? ? 1 : 2
  rest
end

WAYS = [
  -> { rest },
  -> { wait_for_queue },
  -> { wait_for_pipe },
  -> { Sorter.new.sorted },
  -> { Sorter.still },
  -> { Sorter.new.anything(1) },
  -> { Sorter.new > Sorter.new },
  -> { Sorter.new(true) },
  -> { Sorter.new.map { |one| one } },
  -> { Sorter.new.defined(1) },
  -> { Finer.new.key(1) },
  -> { Shop::Cart.total },
  -> { Shop::Cart.sum { rest } },
  -> { deep(40) },
  -> { deep(500) },
  -> { caught },
  -> { ensured },
  -> { größe },
  -> { far },
  -> { eval("rest") },
  -> { Sorter.new.instance_eval { key(1) } },
  -> { Sorter.class_eval { still } },
  -> { [1].each(&method(:deep)) rescue nil },
  -> { Fiber.new { Fiber.new { rest }.resume }.resume },
  -> { Enumerator.new { |all| all << rest }.next },
  -> { catch(:out) { rest } },
  -> { "a".gsub(/a/) { rest } },
  -> { Hash.new { |hash, key| rest }[1] },
  -> { Mutex.new.synchronize { rest } },
  # C extensions.
  -> { Monitor.new.synchronize { rest } },
  -> { JSON.generate([Sorter.new]) },
  -> { [3, 1, 2].inject { |a, b| rest } },
  -> { [3, 1, 2].each_slice(2).with_index { |a, b| rest } },
  -> { Thread.new { rest }.join }
].freeze

WAYS.each { |way| Thread.new(&way) }

# From 3.3 on ractors take turns on native threads.
if defined?(Ractor) && RUBY_VERSION < "3.3"
  Ractor.new do
    1.times { rest }
  end
end
sleep
