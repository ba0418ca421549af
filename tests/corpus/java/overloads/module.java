package shop;

import java.util.List;

/**
 * A shop.
 */
@Service("x")
public class Shop<T> extends Base {
    private int limit = 3;

    public Shop() {}

    public Shop(int limit) {
        this.limit = limit;
    }

    /** Adds. */
    @Override
    public void add(String name, java.util.Map<String, List<T>> more) {
        go();
    }

    // about the other
    void add(final int[] values, String... names) {}

    static { boot(); }
}
