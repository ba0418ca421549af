#ifndef SHELF_H
#define SHELF_H

#include "book.h"

struct shelf;

int shelf_add(struct shelf *s, struct book *b);
int shelf_size(const struct shelf *s);

#endif
