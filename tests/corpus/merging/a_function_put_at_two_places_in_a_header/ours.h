#ifndef SHELF_H
#define SHELF_H

int shelf_add(int book);
void shelf_clear(struct shelf *s);

#endif
