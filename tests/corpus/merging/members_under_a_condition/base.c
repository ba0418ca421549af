struct S {
    int a;
#ifdef X
    int b;
#endif
};
