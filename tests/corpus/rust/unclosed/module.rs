fn before() {}

impl Point {
    fn area(&self) {
        call(
    }
}

fn after() {}
