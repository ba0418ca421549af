
int added(int value) {
    return value + 3;
}
// The tools.

#include <string>

int one() {
    return 1;
}
