def render(text, height):
    return text.strip()
