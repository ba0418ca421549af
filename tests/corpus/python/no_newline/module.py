class C:
    def m(self):
        pass