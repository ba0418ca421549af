interface Seller {
    fun sell(item: Item)
}

object Registry {
    fun find(id: Int): Shop? = null
}

enum class Colour {
    RED,
    GREEN;

    fun paint() {
    }
}

sealed class Result
class Wrapper<T>(val value: T)
