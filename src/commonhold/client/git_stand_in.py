"""Run as `PYTHON -I -S git_stand_in.py FOLDER WORDS…` in place of git in a session's shell.

FOLDER is the one on the PATH in which the shell found it. A script is compiled at every start and a module is not,
so this is short; see `launching/git.py`.
"""

import os
import sys

if __name__ == "__main__":
    # After the standard library, so that it hides nothing of it.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    from launching.git import main  # type: ignore[import-not-found]  # by its short name

    sys.exit(main(sys.argv[1], sys.argv[2:]))
