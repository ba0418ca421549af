fun String.pad(size: Int): String = this

fun <T> List<T>.second(): T {
    return this[1]
}

suspend fun load(vararg ids: Int, done: (Int) -> Unit) {
}

typealias Handler = (Int) -> Unit
const val LIMIT = 3
