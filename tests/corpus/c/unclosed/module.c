int before(void) { return 1; }

int broken(void) {
    call(
}

int after(void) { return 1; }
