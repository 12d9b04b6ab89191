# SPDX-License-Identifier: Apache-2.0
# Spends 70 % of its CPU time in hot and 30 % in cold, by the thread's own clock.
def clock = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID, :nanosecond)

def hot(nanoseconds)
  finish = clock + nanoseconds
  x = 0
  1000.times { |i| x = (x * 31 + i % 7) % 1_000_003 } while clock < finish
end

def cold(nanoseconds)
  finish = clock + nanoseconds
  x = 0
  1000.times { |i| x = (x * 31 + i % 7) % 1_000_003 } while clock < finish
end

# Time that a turn takes too much is missing from the next turn.
parts = [[:hot, 7_000_000, 0], [:cold, 3_000_000, 0]]
loop do
  parts.each do |part|
    name, due, over = part
    start = clock
    send(name, [0, due - over].max)
    part[2] += clock - start - due
  end
end
