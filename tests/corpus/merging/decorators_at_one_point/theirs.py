@logged
def index():
    return "hello"
