#ifndef SHOP_H
#define SHOP_H

#ifdef __linux__
int open_shop(void) { return 1; }
#else
int open_shop(void) { return 2; }
#endif

#ifdef __cplusplus
extern "C" {
#endif

int in_the_middle(void) { return 3; }

#ifdef __cplusplus
}
#endif

#endif
