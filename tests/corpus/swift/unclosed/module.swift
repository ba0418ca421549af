func before() {
}

class Broken {
    func run() {
        call(
    }
}

func after() {
}
