// Threads that sleep in known places: sleepers.js FILE writes for each its functions, the innermost first.
'use strict';
const { Worker, isMainThread, workerData } = require('worker_threads');
const fs = require('fs');

Error.stackTraceLimit = Infinity;
const nothing = new Int32Array(new SharedArrayBuffer(4));
function park() {
  const before = Error.prepareStackTrace;
  Error.prepareStackTrace = (_, sites) => sites.map((site) => site.getFunctionName() ?? '');
  const names = new Error().stack;
  Error.prepareStackTrace = before;
  fs.appendFileSync(workerData.file, `${names.join('\t')}\n`);
  Atomics.wait(nothing, 0, 0);
}

class Sorter {
  key() {
    return park();
  }
  static sorts() {
    [2, 1].sort(() => new Sorter().key());
  }
  get rested() {
    return park();
  }
  constructor(parks) {
    if (parks) park();
  }
}
function deep(left) {
  return left ? deep(left - 1) : park();
}
function* lazily() {
  yield 1;
  park();
}
async function awaits() {
  await inner();
}
async function inner() {
  await null;
  park();
}
const assigned = {};
assigned.method = () => park();
const größe = function () {
  park();
};
const ways = [
  () => park(),
  () => Sorter.sorts(),
  () => new Sorter(true),
  () => new Sorter().rested,
  () => deep(60),
  () => deep(200),
  () => [...lazily()],
  () => awaits(),
  () => assigned.method(),
  () => größe(),
  () => [1].map(function named() { park(); }),
  () => 'a'.replace(/a/, () => park()),
];
if (isMainThread) {
  const file = process.argv[2];
  ways.forEach((_, number) => new Worker(__filename, { workerData: { file, number } }));
} else {
  ways[workerData.number]();
}
