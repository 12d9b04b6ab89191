<?php
// A tree of functions, in each of which time passes: the name of a function is that of its caller with one letter more, however it is
// called. Functions whose names begin otherwise may stand between.
class Tree
{
    public static function lazily($call, $n)
    {
        yield $call($n);
    }

    public function __get($name)
    {
        return $name(3);
    }
}

const WAYS = [
    '$x += %1$s($n);',
    '$x += array_map("%1$s", [$n])[0];',
    '$x += call_user_func("%1$s", $n);',
    'foreach (Tree::lazily("%1$s", $n) as $y) { $x += $y; }',
    '$x += array_sum(iterator_to_array(Tree::lazily(fn($m) => %1$s($m), $n)));',
    '$x += (new Tree)->%1$s;',
    '$x += (new ReflectionFunction("%1$s"))->invoke($n);',
    '$x += eval("return %1$s($n);");',
    '$f = new Fiber("%1$s"); $f->start($n); $x += $f->getReturn();',
];
$way = 0;

function grow($name, $depth)
{
    global $way;
    $calls = '';
    foreach ($depth ? ['a', 'b', 'c'] : [] as $letter) {
        $way++;
        $calls .= sprintf(WAYS[$way % count(WAYS)], $name . $letter) . "\n";
        grow($name . $letter, $depth - 1);
    }
    eval("function $name(\$n) { \$x = \$n; for (\$i = 0; \$i < 20; \$i++) { \$x = \$x * 31 % 1000003 + \$i % 7; }
        $calls return \$x; }");
}

grow('f', 5);
while (true) {
    f(3);
}
