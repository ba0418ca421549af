# What BASH_ENV names in the bash that OpenCode starts for a command: the command goes to our launcher, as it is.
# Not so in any other bash: one that got the variables from another program, or that has no command to run.
_guarded=${COMMONHOLD_GUARDED-}
_launching=("$COMMONHOLD_PYTHON" -I -S "$COMMONHOLD_LAUNCHER" --call "$COMMONHOLD_CALL" "$COMMONHOLD_SOCKET"
    "$COMMONHOLD_HOLDER" "$COMMONHOLD_WHEN_DOWN" "$BASH" -c "${BASH_EXECUTION_STRING-}")
if [ -n "${COMMONHOLD_OWN_BASH_ENV-}" ]; then BASH_ENV=$COMMONHOLD_OWN_BASH_ENV; else unset BASH_ENV; fi
unset COMMONHOLD_GUARD COMMONHOLD_GUARDED COMMONHOLD_OWN_BASH_ENV COMMONHOLD_PYTHON COMMONHOLD_LAUNCHER \
    COMMONHOLD_CALL COMMONHOLD_SOCKET COMMONHOLD_HOLDER COMMONHOLD_WHEN_DOWN
if [ "$PPID" = "$_guarded" ] && [ -n "${BASH_EXECUTION_STRING-}" ]; then
    if [ -x "${_launching[0]}" ] && [ -r "${_launching[3]}" ]; then exec "${_launching[@]}"; fi
    echo 'commonhold: the command was not run: the Python that watches over it is gone. Next: commonhold install' >&2
    exit 126
fi
unset _guarded _launching
# As bash reads it: what it names may be made of variables.
[ -z "${BASH_ENV-}" ] || eval "[ ! -r \"$BASH_ENV\" ] || . \"$BASH_ENV\""
