@cached
def index():
    greeting = "good day"
    return greeting
