@route("/")
@logged
def index():
    return "hello"
