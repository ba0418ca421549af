use garden::{Bed, Plant, Pond, Rake, Shed};
