#include <stdio.h>
#include <string.h>

#define LIMIT 10

enum colour { RED = 1, GREEN = 2 };

struct shape {
    int width;
    int height;
};

struct point {
    int x, y;
};

static const char *words[] = {"first", "second"};
static const int numbers[3] = {1, 2};

int size(const struct shape *it)
{
    int total = it->width * it->height;
    if (total > LIMIT)
        total = LIMIT;
    return total;
}

static struct shape grown(struct shape it, int by)
{
    struct shape larger = {it.width + by, it.height};
    return larger;
}

int total(struct shape *shapes, int count, int start)
{
    int result = start;
    int i;
    for (i = 0; i < count; i++) {
        result += size(&shapes[i]);
        printf("%d\n", result);
    }
    if (count == 0)
        return start;
    return result;
}

int numbered(int word)
{
    switch (word) {
    case 0:
        return 10;
    case 1:
        return 11;
    }
    return 12;
}

const char *hue(enum colour it)
{
    return it == RED ? "red" : words[GREEN];
}

int check(void)
{
    struct shape shapes[] = {{1, 2}, {.width = 2, .height = 3}};
    struct point origin = {0, 0};
    struct shape larger = grown(shapes[0], 2);
    printf("%s %d %d\n", hue(RED), origin.x, numbers[0]);
    return total(shapes, 2, 1) + size(&larger) + numbered(0) + (int)strlen(words[0]);
}
