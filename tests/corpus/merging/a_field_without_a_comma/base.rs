pub struct Bed {
    rows: u8
}
