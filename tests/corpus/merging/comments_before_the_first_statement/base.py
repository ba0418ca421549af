def render(text):
    return text
