#include <string>

// about Shop
template <typename T>
class Shop : public Base<T> {
public:
    Shop() : limit(3) {}
    virtual ~Shop() {}

    // about add
    virtual void add(int a, const std::string &name) const override {
        go();
    }

    void add(double amount = 1.0) {}
    bool operator==(const Shop &other) const { return true; }
    explicit operator bool() const { return true; }
    int declared(int x);

private:
    int limit;

    struct Inner {
        int value() { return 1; }
    };
};
