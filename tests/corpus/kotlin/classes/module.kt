package shop

import java.util.UUID

/** A shop. */
@Serializable
data class Shop(val name: String) : Base() {
    val size: Int
        get() = 1

    var plain = 3

    init {
        boot()
    }

    constructor(limit: Int) : this("x") {
    }

    // about add
    @Throws(Error::class)
    fun add(name: String, items: List<Int>): Int {
        return 1
    }

    fun add(name: String) = 2

    companion object {
        fun make(): Shop = Shop("a")
    }
}
