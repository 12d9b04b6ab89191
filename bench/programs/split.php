<?php
// SPDX-License-Identifier: Apache-2.0
// Spends 70 % of its CPU time in hot and 30 % in cold, by the process's own clock.
function microseconds()
{
    $used = getrusage();
    return 1000000 * ($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec'];
}

function hot($microseconds)
{
    $end = microseconds() + $microseconds;
    $x = 0;
    while (microseconds() < $end) {
        for ($i = 0; $i < 1000; $i++) {
            $x = ($x * 31 + $i % 7) % 1000003;
        }
    }
}

function cold($microseconds)
{
    $end = microseconds() + $microseconds;
    $x = 0;
    while (microseconds() < $end) {
        for ($i = 0; $i < 1000; $i++) {
            $x = ($x * 31 + $i % 7) % 1000003;
        }
    }
}

// Time that a turn takes too much is missing from the next turn.
$parts = [['hot', 7000, 0], ['cold', 3000, 0]];
while (true) {
    foreach ($parts as &$part) {
        [$call, $due, $over] = $part;
        $begin = microseconds();
        $call(max(0, $due - $over));
        $part[2] += microseconds() - $begin - $due;
    }
}
