interface Seller {
    int MAX = 3;
    void sell(Item item);
    default void close() {
    }
}

enum Colour {
    RED { void paint() {} },
    GREEN;

    Colour() {}

    void paint() {
    }
}

record Point(int x, int y) {
    Point {
        check(x);
    }

    int sum() { return x + y; }
}

@interface Marker {
    String value() default "";
}
