def render(text, width):
    return text.strip()
