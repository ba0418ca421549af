"""Git's objects as files: with line ends and filters as a checkout would write them."""

import tempfile
from collections.abc import Mapping
from pathlib import Path

from commonhold.workspace.git.process import Git


def checked_out(git: Git, objects: Mapping[str, str]) -> dict[str, bytes]:
    """Return the bytes of each object as a checkout would write them to its path, without objects that git lacks."""
    with tempfile.TemporaryDirectory(prefix="commonhold-") as folder:
        settings = {"GIT_INDEX_FILE": f"{folder}/index"}
        lines = "".join(f"100644 {content} 0\t{path}\0" for path, content in objects.items())
        git.ask("update-index", "-z", "--index-info", given=lines.encode(), settings=settings)
        # If one object is missing, the others are still wanted.
        git.run("checkout-index", "--all", "--force", f"--prefix={folder}/files/", settings=settings)
        places = {path: Path(folder, "files", path) for path in objects}
        return {path: place.read_bytes() for path, place in places.items() if place.is_file()}
