// SPDX-License-Identifier: Apache-2.0
// Spends 70 % of its CPU time in hot and 30 % in cold, by the process's own clock.
'use strict';
const clock = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};
let sink = 0;
function hot(microseconds) {
  for (const end = clock() + microseconds; clock() < end; ) {
    let x = sink;
    for (let i = 0; i < 30_000; i++) x = (x * 31 + (i % 7)) | 0;
    sink = x;
  }
}
function cold(microseconds) {
  for (const end = clock() + microseconds; clock() < end; ) {
    let x = sink;
    for (let i = 0; i < 30_000; i++) x = (x * 31 + (i % 7)) | 0;
    sink = x;
  }
}
// Time that a turn takes too much is missing from the next turn. One call of both: V8 inlines neither in its caller.
const parts = [
  { call: hot, due: 7000, over: 0 },
  { call: cold, due: 3000, over: 0 },
];
for (;;) {
  for (const part of parts) {
    const begin = clock();
    part.call(Math.max(0, part.due - part.over));
    part.over += clock() - begin - part.due;
  }
}
