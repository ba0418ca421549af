class Before {
    void run() {}
}

class Broken {
    void run() {
        call(
    }
}

class After {}
