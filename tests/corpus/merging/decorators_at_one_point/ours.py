@cached
def index():
    return "hello"
