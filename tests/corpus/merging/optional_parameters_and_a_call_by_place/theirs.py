def render(text, height=3):
    return text


def show(text):
    return text
