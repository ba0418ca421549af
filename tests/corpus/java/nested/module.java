class Outer {
    // a note

    /* about Inner */
    static class Inner {
        void run() {}

        class Deep {
            int deep() { return 1; }
        }
    }

    Runnable task = new Runnable() {
        public void run() {}
    };
}
class Second { void one() {} }
