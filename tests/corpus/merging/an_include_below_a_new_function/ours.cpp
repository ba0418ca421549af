// The tools.

#include <algorithm>
#include <string>

int one() {
    return 1;
}
