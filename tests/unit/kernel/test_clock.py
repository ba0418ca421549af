from commonhold.kernel.clock import Deadline, Now, deadline


def test_a_deadline_passes_at_its_instant() -> None:
    until = deadline(Now("boot-1", 10.0, 1000.0), 5.0)
    assert until == Deadline("boot-1", 15.0, 1005.0)
    assert not until.has_passed(Now("boot-1", 14.9, 0.0))
    assert until.has_passed(Now("boot-1", 15.0, 0.0))


def test_wall_time_decides_nothing() -> None:
    until = deadline(Now("boot-1", 10.0, 1000.0), 5.0)
    assert not until.has_passed(Now("boot-1", 11.0, 9e9))


def test_a_deadline_of_another_boot_has_passed() -> None:
    until = deadline(Now("boot-1", 10.0, 1000.0), 5.0)
    assert until.has_passed(Now("boot-2", 0.0, 1000.0))
