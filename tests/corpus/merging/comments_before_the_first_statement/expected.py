# Ours: called for every line.
# Theirs: must not fail.
def render(text):
    return text
