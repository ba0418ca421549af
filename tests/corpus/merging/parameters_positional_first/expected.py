def render(text, height, width=80):
    return text.strip()
