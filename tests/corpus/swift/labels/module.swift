import Foundation

/// A shop.
@objc
public class Shop<T>: Base {
    var limit = 3
    var size: Int {
        return 1
    }

    init(name: String) {
    }

    deinit {}

    // about move
    func move(_ item: Int, to place: String) -> Int {
        1
    }

    func move(_ item: Int, by steps: Int) {}
    static func make() {}
    subscript(index: Int) -> Int { 1 }
}
