@cached
@route("/")
def index():
    return "hello"
