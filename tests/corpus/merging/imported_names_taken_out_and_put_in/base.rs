use garden::{Bed, Plant, Rake, Shed};
