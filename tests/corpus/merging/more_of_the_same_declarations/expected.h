#ifndef SHELF_H
#define SHELF_H

int shelf_add(int book);
void shelf_clear(struct shelf *s);
int shelf_save(const struct shelf *s, const char *path);

#endif
