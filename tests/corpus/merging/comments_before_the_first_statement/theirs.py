# Theirs: must not fail.
def render(text):
    return text
