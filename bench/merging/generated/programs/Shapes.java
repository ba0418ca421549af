package shapes;

import java.util.ArrayList;
import java.util.Map;

interface Sized {
    int size();
}

enum Colour {
    RED, GREEN
}

record Point(int x, int y) {
}

record Mark(int at) {
}

enum Level {
    LOW, HIGH;

    boolean isLow() {
        return this == LOW;
    }
}

class Options {
    boolean deep = true;
    int most = 3;
}

abstract class Named {
    abstract String name();
}

class Shape extends Named implements Sized {
    static final int LIMIT = 10;
    private final int width;
    private int height = 1;

    Shape(int width, int height) {
        this.width = width;
        this.height = height;
    }

    @Override
    String name() {
        return "shape";
    }

    @Override
    public int size() {
        int total = width * height;
        if (total > LIMIT) {
            total = LIMIT;
        }
        return total;
    }

    Shape grown(int by) {
        return new Shape(width + by, height);
    }
}

class Shapes {
    static final String[] WORDS = {"first", "second"};
    static final int[] SIZES = {1, 2};
    static final Map<String, Integer> NAMED = Map.of("first", 1, "second", 2);

    static int total(ArrayList<Shape> shapes, int start) {
        ArrayList<Integer> seen = new ArrayList<>();
        int result = start;
        for (Shape shape : shapes) {
            result += shape.size();
            seen.add(result);
        }
        if (seen.isEmpty()) {
            return start;
        }
        return result;
    }

    static int numbered(int word) {
        switch (word) {
            case 0:
                return 10;
            case 1:
                return 11;
            default:
                return 12;
        }
    }

    static String hue(Colour colour) {
        return switch (colour) {
            case RED -> "red";
            case GREEN -> "green";
        };
    }

    static int check() {
        ArrayList<Shape> shapes = new ArrayList<>();
        shapes.add(new Shape(1, 2));
        Shape larger = shapes.get(0).grown(2);
        Point origin = new Point(0, 0);
        Options options = new Options();
        int count = options.most + SIZES.length;
        count += Level.LOW.isLow() ? 1 : 0;
        System.out.println(larger.name() + origin + hue(Colour.RED) + WORDS[0] + NAMED + count);
        return total(shapes, 1) + numbered(0);
    }
}
