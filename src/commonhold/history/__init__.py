"""The log read again: why something happened, and whether the recorded decisions come out the same."""
