// Busy in middle and leaf.
function leaf(n) {
  let x = n;
  for (let i = 0; i < 2000; i++) x = (x * 31 + (i % 7)) | 0;
  return n === 0 ? x : x + leaf(n - 1);
}
function middle() {
  return leaf(5) + leaf(4);
}
for (let sum = 0; ; ) sum += middle();
