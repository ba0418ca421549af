WIDTH = 80


def render(text):
    return text
