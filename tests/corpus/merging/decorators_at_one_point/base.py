def index():
    return "hello"
