<?php

namespace Shop\Goods;

use Shop\Base;

/**
 * An item.
 */
#[Entity]
final class Item extends Base implements Sellable
{
    use Counting;

    const LIMIT = 3;
    private $name = 'x';

    /** About price. */
    #[Pure]
    public function price(int $count): int
    {
        return $count;
    }

    abstract protected function tax(): int;
}

interface Sellable { public function sell(): void; }

trait Counting
{
    public function count() {}
}

enum Suit: string
{
    case Hearts = 'H';

    public function colour(): string { return 'red'; }
}
