from commonhold.kernel.errors import Code, StoreError


def test_an_error_holds_its_parts() -> None:
    given = {"path": "a.py"}
    fault = StoreError(Code.STORE_BUSY, "busy", hint="wait", retry_after_seconds=1.0, fields=given)
    given.clear()
    assert (fault.code, str(fault), fault.hint, fault.fields) == ("STORE_BUSY", "busy", "wait", {"path": "a.py"})
    assert fault.retryable
    assert not StoreError(Code.DISK_FULL, "full", hint="free some space").retryable


def test_codes_are_stable_words() -> None:
    assert all(code.value == code.name and code.value.isupper() for code in Code)
