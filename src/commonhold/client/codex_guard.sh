# What BASH_ENV names in the bash that Codex starts for a command: the command goes to our launcher, with the script that
# Codex has made of it. Not so in any other bash: one that runs no call of its model's, or that was started by another.
_flags=-c
if shopt -q login_shell; then _flags=-lc; fi
_launching=("$COMMONHOLD_PYTHON" -I -S "$COMMONHOLD_LAUNCHER" --codex "$COMMONHOLD_SOCKET" "$COMMONHOLD_WHEN_DOWN"
    "$COMMONHOLD_STATE" "$COMMONHOLD_ROOT" "$BASH" "$_flags" "${BASH_EXECUTION_STRING-}")
unset BASH_ENV _flags COMMONHOLD_GUARD COMMONHOLD_PYTHON COMMONHOLD_LAUNCHER COMMONHOLD_SOCKET COMMONHOLD_WHEN_DOWN \
    COMMONHOLD_STATE COMMONHOLD_ROOT
# Codex is told to begin its shells at level 1, without which bash leaves BASH_ENV out where Codex lets it use no sockets.
if [ "$SHLVL" = 2 ] && [ -n "${CODEX_TOOL_CALL_ID-}" ] && [ -n "${BASH_EXECUTION_STRING-}" ]; then
    if [ -x "${_launching[0]}" ] && [ -r "${_launching[3]}" ]; then exec "${_launching[@]}"; fi
    echo 'commonhold: the command was not run: the Python that watches over it is gone. Next: commonhold install' >&2
    exit 126
fi
unset _launching
