import pytest

from commonhold.code.analysis.admission import Allow, Escalate, Escalation, Findings, Required, RequireLocks, judge
from commonhold.kernel.keys import Key, parse


def key(text: str) -> Key:
    return parse(text).key()


FILE, CLASS, METHOD, FUNCTION = key("m.py"), key("m.py#C"), key("m.py#C.m"), key("m.py#f")
NEEDS_METHOD, NEEDS_FUNCTION = Required(METHOD, "why", 3), Required(FUNCTION, "why", 9)
BROKEN = Required(METHOD, "why", 3, still_broken=True)
DYNAMIC = Escalation(FILE, "exec", 1)
BOTH = (NEEDS_METHOD, NEEDS_FUNCTION)

CASES = {
    "nothing found": ((), (), [], [], Allow(("told",), ())),
    "unmet": (BOTH, (), [], [], RequireLocks(BOTH)),
    "one mended": (BOTH, (), [METHOD], [], RequireLocks((NEEDS_FUNCTION,))),
    "both mended": (BOTH, (), [METHOD, FUNCTION], [], Allow(("told",), ())),
    "mended by its class": ((NEEDS_METHOD,), (), [CLASS], [], Allow(("told",), ())),
    "mended by the file": (BOTH, (), [FILE], [], Allow(("told",), ())),
    "leased is a debt": (BOTH, (), [METHOD], [FUNCTION], Allow(("told",), (NEEDS_FUNCTION,))),
    "leased by its class": ((NEEDS_METHOD,), (), [], [CLASS], Allow(("told",), (NEEDS_METHOD,))),
    "in the changeset but still broken": ((BROKEN,), (), [METHOD], [], RequireLocks((BROKEN,))),
    "still broken but leased": ((BROKEN,), (), [METHOD], [METHOD], Allow(("told",), (BROKEN,))),
    "broken contracts come before an escalation": (BOTH, (DYNAMIC,), [], [], RequireLocks(BOTH, (DYNAMIC,))),
    "escalation once all are mended": (BOTH, (DYNAMIC,), [METHOD, FUNCTION], [], Escalate((DYNAMIC,))),
    "escalation once all are leased": (BOTH, (DYNAMIC,), [], [METHOD, FUNCTION], Escalate((DYNAMIC,))),
    "escalation is not mended": ((), (DYNAMIC,), [FILE], [], Escalate((DYNAMIC,))),
    "the file's lease meets all": (BOTH, (DYNAMIC,), [], [FILE], Allow(("told",), BOTH)),
}


@pytest.mark.parametrize("name", CASES)
def test_judge(name: str) -> None:
    required, escalations, mended, leased, verdict = CASES[name]
    assert judge(Findings(required, escalations, ("told",)), mended, leased.__contains__) == verdict
