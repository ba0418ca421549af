def render(text, *, colour: bool = False):
    return text.strip()
