"""Exhaustion is found among the causes of an error, however they are tied."""

import errno

from commonhold.kernel.errors import Code, InputError
from commonhold.kernel.resource_exhaustion import exhausted


def caused(fault: BaseException, cause: BaseException) -> BaseException:
    fault.__cause__ = cause
    return fault


def test_an_error_that_was_raised_from_itself_has_an_end() -> None:
    fault = ValueError("no")
    assert exhausted(caused(fault, fault)) is None
    one, two = ValueError("one"), ValueError("two")
    caused(one, two)
    assert exhausted(caused(two, one)) is None


def test_what_ran_out_is_found_below_other_errors() -> None:
    missing = OSError(errno.EMFILE, "Too many open files")
    found = exhausted(caused(InputError(Code.CONFIG_INVALID, "no", hint="see"), caused(ValueError("x"), missing)))
    assert found is not None
    assert (found.code, found.retryable) == (Code.STORE_BUSY, True)
