def render_page(text, width):
    lines = []
    for line in text.splitlines():
        lines.append(line[:width])
    return lines
