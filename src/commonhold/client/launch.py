"""Run as `PYTHON -I -S launch.py SOCKET HOLDER WHEN_DOWN COMMAND…`; what it does is in `launching/`.

As `launch.py --claude SOCKET WHEN_DOWN ROOT SCRIPT` it is what Claude Code starts in place of its shell, and as
`launch.py --codex SOCKET WHEN_DOWN STATE ROOT SHELL… SCRIPT`, or `--gemini SOCKET WHEN_DOWN ROOT SHELL SCRIPT`, what a
shell of Codex, or of Gemini, becomes. With `--call CALL` first it
tells which call of a tool the command is, that a hook has reported.

A script is compiled anew at every start and a module is not, so this is short.
"""

import os
import sys

if __name__ == "__main__":
    # After the standard library, so that it hides nothing of it.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    if sys.argv[1:2] == ["--claude"]:
        from launching.claude import main  # type: ignore[import-not-found]  # by its short name

        sys.exit(main(*sys.argv[2:]))
    if sys.argv[1:2] == ["--codex"]:
        from launching.codex import main  # type: ignore[import-not-found]  # by its short name

        sys.exit(main(*sys.argv[2:]))
    if sys.argv[1:2] == ["--gemini"]:
        from launching.gemini import main  # type: ignore[import-not-found]  # by its short name

        sys.exit(main(*sys.argv[2:]))
    from launching.command import main  # type: ignore[import-not-found]  # by its short name

    sys.exit(main(sys.argv[1:]))
