"""`python -m commonhold.server.daemon ROOT`: the daemon of a repository, in the foreground."""

import sys

from commonhold.server.daemon.lifetime import Times, serve

if __name__ == "__main__":
    root, *seconds = sys.argv[1:]
    sys.exit(serve(root, Times(*map(float, seconds))))
