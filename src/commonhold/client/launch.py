"""Run as `PYTHON -I -S launch.py [--call CALL] SOCKET HOLDER WHEN_DOWN COMMAND…`; what it does is in `launching/`.

CALL is the call of a tool that the command is, where a hook has reported that. As `launch.py --claude SOCKET WHEN_DOWN
ROOT SCRIPT` it is what Claude Code starts in place of its shell; as `launch.py --codex SOCKET WHEN_DOWN STATE ROOT
SHELL… SCRIPT`, or `launch.py --gemini SOCKET WHEN_DOWN ROOT SHELL SCRIPT`, what a shell of Codex or of Gemini becomes.

A script is compiled anew at every start and a module is not, so this is short.
"""

import os
import sys

if __name__ == "__main__":
    # After the standard library, so that it hides nothing of it.
    sys.path.append(os.path.dirname(os.path.abspath(__file__)))
    agent = sys.argv[1][2:] if sys.argv[1] in ("--claude", "--codex", "--gemini") else ""
    main = __import__(f"launching.{agent or 'command'}", fromlist=["main"]).main
    sys.exit(main(*sys.argv[2 if agent else 1 :]))
