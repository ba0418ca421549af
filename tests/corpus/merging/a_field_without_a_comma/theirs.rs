pub struct Bed {
    rows: u8,
    depth: u8
}
