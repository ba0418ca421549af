use garden::{Bed, Pond, Shed};
