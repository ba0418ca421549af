def render(text, width=80):
    return text


def show(text):
    return render(text, 40)
