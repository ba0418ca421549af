def before():
    pass

@decorate
class C:
    def m(self):
        pass

    def (

    def n(self):
        pass
