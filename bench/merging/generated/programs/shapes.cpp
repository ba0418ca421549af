#include <cstdio>
#include <string>
#include <vector>

namespace shapes {

const int limit = 10;

enum class Colour { red = 1, green = 2 };

struct Point {
    int x;
    int y;
};

struct Options {
    bool deep = true;
    int most = 3;
};

enum class Level { low, high };

const std::vector<int> sizes = {1, 2};

class Sized {
public:
    virtual ~Sized() = default;
    virtual int size() const = 0;
};

class Shape : public Sized {
public:
    Shape(int width, int height) : width(width), height(height) {}

    int size() const override {
        int total = width * height;
        if (total > limit) {
            total = limit;
        }
        return total;
    }

    Shape grown(int by) const {
        return Shape(width + by, height);
    }

private:
    int width;
    int height = 1;
};

int total(const std::vector<Shape> &shapes, int start) {
    std::vector<int> seen;
    int result = start;
    for (const Shape &shape : shapes) {
        result += shape.size();
        seen.push_back(result);
    }
    if (seen.empty()) {
        return start;
    }
    return result;
}

int numbered(int word) {
    switch (word) {
    case 0:
        return 10;
    case 1:
        return 11;
    }
    return 12;
}

std::string hue(Colour colour) {
    return colour == Colour::red ? "red" : "green";
}

int check() {
    std::vector<Shape> shapes = {Shape(1, 2), Shape(2, 3)};
    Shape larger = shapes[0].grown(2);
    Point origin{0, 0};
    Options options;
    int count = options.most;
    count += static_cast<int>(sizes.size());
    std::printf("%d %d %d %s", count, larger.size(), origin.x, hue(Colour::red).c_str());
    return total(shapes, 1) + numbered(0);
}

}
