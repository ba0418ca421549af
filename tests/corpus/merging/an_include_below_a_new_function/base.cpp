// The tools.

#include <string>

int one() {
    return 1;
}
