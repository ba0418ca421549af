def render(text):
    """Make it fit.

    text: what to show
    """
    return text
