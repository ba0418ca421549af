struct Point {
    func area() -> Int { 1 }
}

extension Point {
    func twice() {}
}

extension Point: Equatable where T: X {
    static func == (left: Point, right: Point) -> Bool { true }
}

func top(items: [Int]) {
}
