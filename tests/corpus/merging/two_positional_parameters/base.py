def render(text):
    return text.strip()
