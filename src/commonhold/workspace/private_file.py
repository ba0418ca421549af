"""Lists in the state folder that are their owner's alone: other users can neither read nor write the file."""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, Generic, TypeVar

import msgspec

from commonhold.kernel.errors import Code, InputError
from commonhold.machine import file_stamps
from commonhold.machine.decoding import from_json
from commonhold.machine.file_replacement import replace_file
from commonhold.machine.file_stamps import Stamp

T = TypeVar("T")
_LOCK_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


class PrivateFile(Generic[T]):
    """A list of items in a file, which is replaced as a whole. Raises InputError `CONFIG_INVALID` if it is unusable."""

    def __init__(self, state_folder: str, name: str, item: type[T]) -> None:
        """Keep the items in the file `name`, as JSON."""
        self._folder = state_folder
        self._name = name
        self._item = item
        self.path = os.path.join(state_folder, name)

    def read(self) -> tuple[T, ...]:
        """Return the items; none if there is no file."""
        try:
            with open(os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as file:
                is_private = os.fstat(file.fileno()).st_mode & 0o077 == 0
                found: tuple[T, ...] = from_json(file.read(), tuple[self._item, ...])  # type: ignore[name-defined]
        except FileNotFoundError:
            return ()
        except (OSError, msgspec.DecodeError, UnicodeError) as fault:
            raise self.unusable(str(fault), f"remove {self.path}, and make its entries again") from fault
        if not is_private:
            raise self.unusable("other users may change it", f"make it yours alone: chmod 600 {self.path}")
        return found

    def stamp(self) -> Stamp | None:
        """Return a value that another content changes."""
        return file_stamps.at(self.path)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other writers out until the end of the block."""
        with suppress(FileExistsError):
            os.mkdir(self._folder, 0o700)
        lock = os.open(f"{self.path}.lock", _LOCK_FLAGS, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
        finally:
            os.close(lock)

    def write(self, items: Sequence[T]) -> None:
        """Replace the items, durably."""
        replace_file(self.path, msgspec.json.format(msgspec.json.encode(items)), 0o600)

    def unusable(self, why: str, hint: str) -> InputError:
        """Return the error of a file that cannot be used."""
        return InputError(
            Code.CONFIG_INVALID,
            f"{self._name} in the state folder cannot be used: {why}",
            hint=hint,
            fields={"path": self.path},
        )
