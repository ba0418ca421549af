protocol Seller {
    @discardableResult
    // a comment between
    func sell(item: Item)
    var name: String { get }
}

enum Colour {
    case red, green
    func paint() {}
}

actor Counter {
    func add() {}
}

typealias Handler = (Int) -> Void
let limit = 3
#if DEBUG
func debug() {}
#endif
