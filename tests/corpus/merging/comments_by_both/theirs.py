WIDTH = 80


# Theirs: must not fail.
def render(text):
    return text
