# SPDX-License-Identifier: Apache-2.0
# A service in WEBrick: counts words and answers with their sums. The argument is the port.
require 'digest'
require 'json'
require 'webrick'

TEXT = Array.new(400) { |i| "word#{i * 7 % 61}" }.join(' ')

def count(text)
  words = Hash.new(0)
  text.split.each { |word| words[word] += word.size }
  words.sort.to_h
end

def answer
  text = JSON.pretty_generate(count(TEXT))
  text + Digest::SHA256.hexdigest(text)
end

server = WEBrick::HTTPServer.new(
  Port: ARGV[0].to_i, BindAddress: '127.0.0.1', AccessLog: [], Logger: WEBrick::Log.new(nil, 0)
)
server.mount_proc('/') do |_, response|
  response['Content-Type'] = 'application/json'
  response.body = answer
end
server.start
