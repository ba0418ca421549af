impl Point {
    const ZERO: i32 = 0;

    /// Area.
    #[must_use]
    pub fn area(&self) -> i32 {
        0
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl<T: Clone> From<Vec<T>> for Stack<T>
where
    T: Copy,
{
    fn from(items: Vec<T>) -> Self { todo!() }
}

unsafe impl Send for Point {}

pub trait Shape {
    fn area(&self) -> f64;

    fn name(&self) -> String {
        String::new()
    }
}
