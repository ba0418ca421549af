int before() { return 1; }

class Broken {
    void run() {
        call(
    }
};

int after() { return 1; }
