pub struct Bed {
    rows: u8,
    width: u8,
}
