#[derive(Debug, Clone, Default)]
pub struct Bed {
    rows: u8,
}
