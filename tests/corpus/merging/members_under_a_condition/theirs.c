struct S {
    int a;
#ifdef X
    int b;
    int seven;
#endif
};
