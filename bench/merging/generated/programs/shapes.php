<?php

namespace Shapes;

use ArrayObject;
use Countable;

const LIMIT = 10;

interface Sized
{
    public function size(): int;
}

enum Colour: int
{
    case Red = 1;
    case Green = 2;
}

abstract class Named
{
    abstract protected function name();
}

class Shape extends Named implements Sized
{
    const KIND = 'shape';

    private $width = 1;
    private $height = 1;

    public function __construct($width, $height = 1)
    {
        $this->width = $width;
        $this->height = $height;
    }

    protected function name()
    {
        return 'shape';
    }

    public function size(): int
    {
        $total = $this->width * $this->height;
        if ($total > LIMIT) {
            $total = LIMIT;
        }
        return $total;
    }

    public function grown($by)
    {
        return new Shape($this->width + $by, $this->height);
    }
}

function total($shapes, $start)
{
    $seen = [];
    $result = $start;
    foreach ($shapes as $shape) {
        $result += $shape->size();
        $seen[] = $result;
    }
    if (!$seen) {
        return $start;
    }
    return $result;
}

function numbered($word)
{
    switch ($word) {
        case 0:
            return 10;
        case 1:
            return 11;
    }
    return 12;
}

function check()
{
    $shapes = [new Shape(1, 2), new Shape(2)];
    $named = ['first' => 1, 'second' => 2];
    $larger = $shapes[0]->grown(2);
    echo $larger->size(), $named['first'];
    return total($shapes, 1) + numbered(0);
}
