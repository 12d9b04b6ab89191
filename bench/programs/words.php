<?php
// SPDX-License-Identifier: Apache-2.0
// A page of `php -S` and php-fpm: counts words and answers with their sums.
function text()
{
    return implode(' ', array_map(fn($i) => 'word' . $i * 7 % 61, range(0, 399)));
}

function count_words($text)
{
    $words = [];
    foreach (explode(' ', $text) as $word) {
        $words[$word] = ($words[$word] ?? 0) + strlen($word);
    }
    uksort($words, fn($a, $b) => strcmp($a, $b));
    return $words;
}

function answer()
{
    $text = json_encode(count_words(text()), JSON_PRETTY_PRINT);
    return $text . hash('sha256', $text);
}

header('Content-Type: application/json');
echo answer();
