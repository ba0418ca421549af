mod other;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn works() {
        fn inner() {}
    }
}

pub enum Kind {
    A,
    B { x: i32 },
}

extern "C" {
    fn outside(x: i32) -> i32;
}

struct Unit;
pub struct Pair(i32, i32);
static LIMIT: usize = 3;
type Short = Vec<u8>;
