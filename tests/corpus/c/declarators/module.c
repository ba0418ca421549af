#include <stdio.h>
#define SQUARE(x) \
    ((x) * (x))
#define LIMIT 3

static int counter;
int declared(int a);

/* about plain */
int plain(void)
{
    return 0;
}

char *pointer(const char *text) {
    return 0;
}

int (*chosen(int which))(int) { return 0; }

static inline unsigned long
two_lines(int a,
          int b)
{
}
