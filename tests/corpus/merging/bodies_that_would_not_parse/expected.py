def run(text):
    with lock:
        if text:
            return text
    return None
