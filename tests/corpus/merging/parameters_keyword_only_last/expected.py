def render(
    text,
    colour="red",
    *,
    width=80,
):
    return text.strip()
