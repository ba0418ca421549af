"""Run as `PYTHON -I -S launch.py [--call CALL] SOCKET HOLDER WHEN_DOWN COMMAND…`; the work is done in `launching/`.

CALL is the id of the tool call that runs the command, if a hook has reported one. As `launch.py --claude SOCKET
WHEN_DOWN ROOT SCRIPT` it is the program that Claude Code starts in place of its shell; a shell of Codex or Gemini
becomes `launch.py --codex SOCKET WHEN_DOWN STATE ROOT SHELL… SCRIPT` or `launch.py --gemini SOCKET WHEN_DOWN ROOT SHELL
SCRIPT`.

A script is compiled at every start and a module is not, so this is short.
"""

import os
import sys

if __name__ == "__main__":
    # After the standard library, so that it hides nothing of it.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    agent = sys.argv[1][2:] if sys.argv[1] in ("--claude", "--codex", "--gemini") else ""
    main = __import__(f"launching.{agent or 'command'}", fromlist=["main"]).main
    sys.exit(main(*sys.argv[2 if agent else 1 :]))
