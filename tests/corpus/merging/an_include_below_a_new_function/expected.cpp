// The tools.

#include <algorithm>


int added(int value) {
    return value + 3;
}
#include <string>

int one() {
    return 1;
}
