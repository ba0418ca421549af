def render(
    text,
    *,
    width=80,
):
    return text.strip()
