<?php
// Processes that sleep in known places: sleepers.php FILE writes for each its number and its functions, the innermost first, each with
// the line that runs there; code that is no function by its file.

namespace Sleepers;

/** Tells the functions that called, and sleeps. */
function rest()
{
    global $file;
    $frames = debug_backtrace();
    $places = ['sleep:0'];
    $line = __LINE__ + 11;
    $inner = __FILE__;
    foreach ([...$frames, ['function' => 'main']] as $frame) {
        $class = isset($frame['class']) ? explode("\0", $frame['class'])[0] . '::' : '';
        $is_code = in_array($frame['function'], ['require', 'eval', 'main']);
        $name = $is_code ? basename(dirname($inner)) . '/' . basename($inner) : $class . $frame['function'];
        $places[] = "$name:$line";
        $line = $frame['line'] ?? 0;
        $inner = $frame['file'] ?? '';
    }
    file_put_contents($file, implode("\t", [getmypid(), ...$places]) . "\n", FILE_APPEND);
    sleep(1000);
}

class Sorter
{
    public function key($a, $b)
    {
        rest();
        return 0;
    }

    public function sort()
    {
        $all = [2, 1];
        usort($all, [$this, 'key']);
    }

    public static function still()
    {
        rest();
    }

    public function __get($name)
    {
        rest();
    }

    public function __call($name, $arguments)
    {
        rest();
    }

    public function __toString()
    {
        rest();
        return '';
    }
}

class Walker implements \IteratorAggregate
{
    public function getIterator(): \Iterator
    {
        yield 1;
        rest();
        yield 2;
    }
}

trait Shared
{
    public function shared()
    {
        rest();
    }
}

class Uses
{
    use Shared;
}

function deep($n)
{
    return $n ? deep($n - 1) : rest();
}

function lazily()
{
    yield 1;
    rest();
    yield 2;
}

function over_lines($n)
{
    return [
        // The call is not on the first line of its expression.
        $n,
        rest($n)
            ?? $n,
    ];
}

$ways = [
    fn() => rest(),
    fn() => over_lines(1),
    fn() => deep(40),
    fn() => deep(300),
    fn() => iterator_to_array(lazily()),
    fn() => (new Sorter())->sort(),
    fn() => Sorter::still(),
    fn() => (new Sorter())->absent,
    fn() => (new Sorter())->absent(),
    fn() => strlen(new Sorter()),
    fn() => (new Uses())->shared(),
    fn() => iterator_to_array(new Walker()),
    fn() => array_map(fn() => rest(), [1]),
    fn() => call_user_func_array([new \ReflectionMethod(Sorter::class, 'still'), 'invoke'], [null]),
    fn() => preg_replace_callback('/a/', fn() => rest(), 'a'),
    fn() => eval('\Sleepers\rest();'),
    fn() => (new class { public function f() { rest(); } })->f(),
    fn() => require __DIR__ . '/required.php',
];
$file = $argv[1];
foreach ($ways as $way) {
    if (pcntl_fork() === 0) {
        $way();
    }
}
deep(3);
