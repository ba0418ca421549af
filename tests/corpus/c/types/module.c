struct point {
    int x;
};

typedef struct {
    int a;
} pair_t;

typedef struct node {
    struct node *next;
} node_t;

enum colour { RED, GREEN };

union value {
    int i;
    float f;
} shared;

struct point *mentioned(struct point *p) {
    return p;
}

typedef int short_name;
