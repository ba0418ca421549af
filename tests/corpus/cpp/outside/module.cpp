Shop::Shop(int limit) : limit_(limit) {}

Shop::~Shop() {}

void Shop::add(int a) {
    go();
}

template <>
void Shop<int>::add(double a) {}

std::ostream &operator<<(std::ostream &out, const Shop &shop) {
    return out;
}

auto sum(int a, int b) -> int { return a + b; }
int *find(int values[], char (*compare)(int)) { return nullptr; }
