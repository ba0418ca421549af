def run(text):
    if text:
        return text
    return None
