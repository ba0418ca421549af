#ifndef SHELF_H
#define SHELF_H

void shelf_clear(struct shelf *s);
int shelf_add(int book);

#endif
