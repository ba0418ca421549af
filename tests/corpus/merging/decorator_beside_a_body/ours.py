@cached
def index():
    greeting = "hello"
    return greeting
