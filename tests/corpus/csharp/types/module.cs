namespace Shop;

public interface ISeller
{
    void Sell(Item item);
}

public record Point(int X, int Y);

public record struct Pair(int A)
{
    public int Sum() => A;
}

enum Colour { Red, Green }

struct Size
{
    int area() { return 1; }
}
