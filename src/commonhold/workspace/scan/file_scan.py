"""The files of a working tree that count: searched everywhere once, then only in changed folders."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from commonhold.machine import file_stamps
from commonhold.workspace.scan.listing import Concerns, Listing, inside, list_folder
from commonhold.workspace.scan.state import File, Folder, Tree

_UNREAD: Final = File(None, 0)
# For this many new names or more, a search everywhere costs no more.
_MANY: Final = 200


class Scope(Protocol):
    """Which of some files and folders count, and which in those folders."""

    def has(self, path: str) -> bool:
        """Whether a file counts."""
        ...

    def entered(self, folders: Collection[str]) -> Collection[str]:
        """Return the folders that must be read."""
        ...

    def kept(self, folders: Mapping[str, Folder]) -> bytes:
        """The rules that decided, to be stored; `folders` are all that were read."""
        ...


class Rules(Protocol):
    """The rules by which files and folders count."""

    @property
    def closing(self) -> frozenset[str]:
        """The names of files that, in a folder other than the root, exclude everything in it."""
        ...

    def still(self, known: bytes) -> bytes | None:
        """The rules now, to be stored, if they decide as the `known` ones; None if all must be read again."""
        ...

    def scope(self, names: Collection[str]) -> Scope:
        """Return which of these files and folders count; no names stand for everything."""
        ...


@dataclass(frozen=True, slots=True)
class FileScan:
    """The files of the working tree at `root` that count."""

    root: str
    rules: Rules
    concerns: Concerns

    def taken(self, known: Tree) -> Tree:
        """The tree with the files that count now. Stored facts about a file's content are kept, current or not."""
        if not known.folders:
            return self._anew(known)
        rules = self.rules.still(known.rules)
        return (self._mended(known, rules) if rules is not None else None) or self._anew(known)

    def checked(
        self, known: Tree, folders: Iterable[str], contents: Mapping[str, set[str]]
    ) -> tuple[bytes, dict[str, Folder]] | None:
        """Return the rules now, and the new stamps of changed folders, if no file that counts came or went.

        None if one did, or may have. `contents` are the known names in each folder.
        """
        rules = self.rules.still(known.rules)
        if rules is None:
            return None
        mending = _Mending(known, self.rules.closing, contents)
        for path in file_stamps.changed(self.root, ((path, known.folders[path].stamp) for path in folders)):
            if not mending.relist(path, list_folder(place(self.root, path), self.concerns)):
                return None
        return None if mending.new or mending.gone else (rules, mending.folders)

    def _anew(self, known: Tree) -> Tree:
        scope = self.rules.scope(())
        look = _Look(self.root, scope, self.rules.closing, self.concerns)
        look.run((), ("",))
        files = {path: known.files.get(path, _UNREAD) for path in sorted(look.files)}
        folders = look.folders()
        return Tree(files, folders, scope.kept(folders), known.turn)

    def _mended(self, known: Tree, rules: bytes) -> Tree | None:
        """Return the tree if only some folders changed; None if everything must be read again."""
        changed = file_stamps.changed(self.root, ((path, folder.stamp) for path, folder in known.folders.items()))
        if not changed:
            return known if rules == known.rules else replace(known, rules=rules)
        mending = _Mending(known, self.rules.closing, contents_of(known))
        for path in changed:
            if not mending.relist(path, list_folder(place(self.root, path), self.concerns)):
                return None
        if len(mending.new) > _MANY:
            return None
        if mending.new:
            look = _Look(self.root, self.rules.scope(mending.new), self.rules.closing, self.concerns)
            look.run(*mending.asked())
            mending.add(look)
        mended = mending.tree(rules)
        return known if mended == known else mended


@dataclass(slots=True)
class _Look:
    """One look at files and folders, and at everything in those."""

    root: str
    scope: Scope
    closing: frozenset[str]
    concerns: Concerns
    listings: dict[str, Listing] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)

    def run(self, files: Iterable[str], folders: Collection[str]) -> None:
        self.files.update(filter(self.scope.has, files))
        level = folders if "" in folders else self.scope.entered(folders)
        while level:
            within = [name for path in level for name in self._enter(path)]
            level = self.scope.entered(within) if within else ()

    def _enter(self, path: str) -> Iterable[str]:
        listing = list_folder(place(self.root, path), self.concerns)
        if listing is None:
            return ()
        self.listings[path] = listing
        if path and not listing.marks.isdisjoint(self.closing):
            return ()
        self.files.update(filter(self.scope.has, (inside(path, name) for name in listing.files)))
        return (inside(path, name) for name in listing.folders)

    def folders(self) -> dict[str, Folder]:
        """The folders that were read."""
        return {path: self._folder(path, listing) for path, listing in self.listings.items()}

    def _folder(self, path: str, listing: Listing) -> Folder:
        files = {name for name in listing.files if inside(path, name) not in self.files}
        folders = {f"{name}/" for name in listing.folders if inside(path, name) not in self.listings}
        return Folder(listing.stamp, listing.marks, frozenset(files | folders))


@dataclass(slots=True)
class _Mending:
    """The known state of a tree, updated folder by folder. `contents` are the known names in each folder."""

    known: Tree
    closing: frozenset[str]
    contents: Mapping[str, set[str]]
    new: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    folders: dict[str, Folder] = field(default_factory=dict)
    found: set[str] = field(default_factory=set)

    def relist(self, path: str, listing: Listing | None) -> bool:
        """Apply the present content of a folder; False if that changes more than its own names."""
        old = self.known.folders[path]
        if listing is None:
            # Only the root has no folder above that shows its removal.
            return path != ""
        if listing.marks != old.marks:
            return False
        if path and not listing.marks.isdisjoint(self.closing):
            self.folders[path] = replace(old, stamp=listing.stamp)
            return True
        names = listing.files | {f"{name}/" for name in listing.folders}
        known = self.contents.get(path, set())
        self.folders[path] = replace(old, stamp=listing.stamp, others=old.others & names)
        self.gone.update(inside(path, name) for name in known - names)
        self.new += [inside(path, name) for name in names - known - old.others]
        return True

    def asked(self) -> tuple[list[str], list[str]]:
        """The new files and folders."""
        folders = [name.removesuffix("/") for name in self.new if name.endswith("/")]
        return [name for name in self.new if not name.endswith("/")], folders

    def add(self, look: _Look) -> None:
        """Apply which of the new names count; the others are remembered."""
        self.folders |= look.folders()
        entered = {f"{path}/" for path in look.listings}
        for name in self.new:
            if name not in look.files and name not in entered:
                folder, _, last = name.rstrip("/").rpartition("/")
                other = last + "/" * name.endswith("/")
                self.folders[folder] = replace(self.folders[folder], others=self.folders[folder].others | {other})
        self.found = look.files

    def tree(self, rules: bytes) -> Tree:
        """Return the present tree."""
        ended = tuple(name for name in self.gone if name.endswith("/"))
        files = {path: file for path, file in self.known.files.items() if path not in self.gone}
        folders = {**self.known.folders, **self.folders}
        if ended:
            files = {path: file for path, file in files.items() if not path.startswith(ended)}
            folders = {path: each for path, each in folders.items() if not f"{path}/".startswith(ended)}
        files |= {path: self.known.files.get(path, _UNREAD) for path in self.found}
        return Tree(files, folders, rules, self.known.turn)


def contents_of(tree: Tree) -> dict[str, set[str]]:
    """The names of known files and folders, by the folder that they are in; those of folders end in a slash."""
    found: dict[str, set[str]] = {}
    for path in tree.files:
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, set()).add(name)
    for path in filter(None, tree.folders):
        folder, _, name = path.rpartition("/")
        found.setdefault(folder, set()).add(f"{name}/")
    return found


def place(root: str, path: str) -> str:
    """Return the path on the disk."""
    return f"{root}/{path}" if path else root
