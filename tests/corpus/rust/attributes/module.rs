//! A crate.
#![allow(dead_code)]

use std::fmt;

/// A point.
#[derive(Debug)]
#[repr(C)]
pub struct Point {
    x: i32,
}

#[test]

// a comment between
#[ignore]
fn attributes_far_above() {}

/* one line */
#[inline] pub fn same_line() {}

/// Doc of the macro.
macro_rules! square {
    ($x:expr) => { $x * $x };
}
