namespace shop {
namespace {
int hidden() { return 1; }
}  // namespace

int price() { return 2; }

}  // namespace shop

namespace shop::goods {
enum class Kind { A, B };
}

namespace shop {
int again() { return 3; }
}

extern "C" {
int plain(void) { return 4; }
}
extern "C" int single(void) { return 5; }
