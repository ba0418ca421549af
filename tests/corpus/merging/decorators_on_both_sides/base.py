@route("/")
def index():
    return "hello"
