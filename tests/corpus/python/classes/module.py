# about C
@final
class C(
    Base,
):
    """Doc."""

    x = 1

    # about m
    def m(self):
        def inner():
            pass

        class Inner:
            def deep(self): ...

    # a note of C

    @property
    def p(self): return 1

    @p.setter
    def p(self, value): ...

    class D:
        # in D's header
        y = 2

        async def n(self):
            await x
            # tail of n
        # tail of D

    z = 3
    # tail of C
# about the next
class Empty: pass
class Other(Empty): x = 1; y = 2
