#include "a.h"
#include "b.h"

int f(int x)
{
    int y = g(x);
    return y + 1;
}

int h(int x)
{
    return f(x) + 2;
}
