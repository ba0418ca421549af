def f(): pass
def g(): pass
@a
def h(): pass
class C:
    def m(self): pass
    def n(self): pass
class D:
    def m(self): pass
def f(): pass
