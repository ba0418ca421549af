#[derive(Debug, Default, PartialEq)]
pub struct Bed {
    rows: u8,
}
