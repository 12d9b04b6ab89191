// A tree of functions, in each of which time passes: the name of a function is that of its caller with one letter more, however it is
// called. Functions whose names begin otherwise may stand between. Functions are compiled as they are: none is inlined in its caller.
'use strict';

const ways = [
  (name) => `x += ${name}(n)`,
  (name) => `x += [n].map(${name})[0]`,
  (name) => `x += ${name}.call(null, n)`,
  (name) => `x += [...lazily(${name}, n)][0]`,
  (name) => `x += (() => ${name}(n))()`,
  (name) => `x += new Holder(${name}).calls(n)`,
];
class Holder {
  constructor(call) {
    this.call = call;
  }
  calls(n) {
    return this.call(n);
  }
}
function* lazily(call, n) {
  yield call(n);
}
const texts = [];
let way = 0;
function grow(name, depth) {
  const calls = [];
  for (const letter of depth ? 'abc' : '') {
    calls.push(ways[way++ % ways.length](name + letter));
    grow(name + letter, depth - 1);
  }
  texts.push(`function ${name}(n) {
    let x = n;
    for (let i = 0; i < 20; i++) x = (x * 31 % 1000003 + i % 7) | 0;
    ${calls.join(';\n    ')};
    return x;
  }`);
}
grow('f', 5);
const f = new Function('Holder', 'lazily', `${texts.join('\n')}\nreturn f;`)(Holder, lazily);
for (;;) f(3);
