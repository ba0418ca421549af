#[derive(Debug, PartialEq)]
pub struct Bed {
    rows: u8,
}
