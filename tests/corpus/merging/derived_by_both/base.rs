#[derive(Debug, Clone)]
pub struct Bed {
    rows: u8,
}
