#!/bin/sh
# Lets the `commonhold` on the PATH answer a hook. Where there is none, a hook that gates blocks, and says what to do.
case $1 in
gate)
    command -v commonhold >/dev/null && exec commonhold hook claude
    echo "commonhold: the command is not on the PATH, so nothing is written unchecked." \
        "Next: pip install commonhold, or disable the plugin" >&2
    exit 2
    ;;
*)
    # By a 2, Claude Code would be told not to come to an end.
    commonhold hook claude || exit 1
    ;;
esac
