def render(
    text,
    colour="red",
):
    return text.strip()
