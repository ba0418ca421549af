struct S {
    int a;
#ifdef X
    int six;
    int b;
#endif
};
