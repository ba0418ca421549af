def render(text, width=80, *, colour: bool = False):
    return text.strip()
