fun before() {
}

class Broken {
    fun run() {
        call(
    }
}

fun after() {
}
