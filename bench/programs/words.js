// SPDX-License-Identifier: Apache-2.0
// A service in Node: counts words and answers with their sums. The argument is the port.
'use strict';
const { createHash } = require('crypto');
const { createServer } = require('http');

const TEXT = Array.from({ length: 400 }, (_, i) => `word${(i * 7) % 61}`).join(' ');

function count(text) {
  const words = new Map();
  for (const word of text.split(' ')) words.set(word, (words.get(word) ?? 0) + word.length);
  return Object.fromEntries([...words].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function answer() {
  const text = JSON.stringify(count(TEXT), null, 1);
  return text + createHash('sha256').update(text).digest('hex');
}

const server = createServer((request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.end(answer());
});
server.listen(Number(process.argv[2]), '127.0.0.1');
