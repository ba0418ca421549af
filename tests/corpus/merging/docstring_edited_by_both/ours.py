def render(text):
    """Make it fit on a page.

    text: what to show
    """
    return text
