import a

def before():
    pass

class C:
    def m(self):
        pass

    def n(self):
        call(

def after():
    pass

def later():
    pass
