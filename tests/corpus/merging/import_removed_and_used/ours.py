import string

LETTERS = string.ascii_letters


def clean(text):
    return text.strip()
