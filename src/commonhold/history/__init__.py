"""The log read backwards: why something happened, and whether the recorded decisions come out the same again."""
