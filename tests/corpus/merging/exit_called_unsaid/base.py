class Lock:
    def __exit__(self, *error):
        self.release()

    def release(self):
        self.held = False


def run(lock):
    return 1
