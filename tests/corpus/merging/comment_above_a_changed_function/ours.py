# Called for every line, and once at the end.
def render(text):
    return text
