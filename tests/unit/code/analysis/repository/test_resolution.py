"""A resolver is a thing of one plan: nothing of it outlives its last user."""

import gc
from weakref import ref

from commonhold.code.analysis.repository.library import Shelf
from commonhold.code.analysis.repository.resolution import Resolver
from commonhold.code.analysis.repository.summarise import summarise

BASES = b"class A:\n    def run(self): ...\n\n\nclass B(A):\n    pass\n"


def test_it_is_gone_without_anybody_collecting_it() -> None:
    summary = summarise("a.py", BASES)
    assert summary is not None
    resolver = Resolver(Shelf({"a.py": summary}))
    assert resolver.lineage.of(("a.py", "B")).places == (("a.py", "B"), ("a.py", "A"))
    left = ref(resolver)
    gc.disable()
    try:
        del resolver
        assert left() is None
    finally:
        gc.enable()
