use std::collections::HashMap;
use std::fmt;

pub const LIMIT: i32 = 10;

#[derive(Debug, Clone)]
pub enum Colour {
    Red = 1,
    Green = 2,
}

pub trait Sized2 {
    fn size(&self) -> i32;
}

#[derive(Debug)]
pub struct Shape {
    pub width: i32,
    pub height: i32,
}

pub struct Pair(pub i32, pub i32);

#[derive(Clone, Default)]
pub struct Options {
    pub deep: bool,
    pub most: usize,
}

#[derive(Clone, Copy)]
pub enum Level {
    Low,
    High,
}

pub const SIZES: &[i32] = &[1, 2];

impl Shape {
    pub fn new(width: i32, height: i32) -> Shape {
        Shape { width, height: height }
    }

    pub fn grown(&self, by: i32) -> Shape {
        Shape { width: self.width + by, height: self.height }
    }
}

impl Sized2 for Shape {
    fn size(&self) -> i32 {
        let mut total = self.width * self.height;
        if total > LIMIT {
            total = LIMIT;
        }
        total
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{}", self.width)
    }
}

pub fn total(shapes: &[Shape], start: i32) -> i32 {
    let mut seen = Vec::new();
    let mut result = start;
    for shape in shapes {
        result += shape.size();
        seen.push(result);
    }
    if seen.is_empty() {
        return start;
    }
    result
}

pub fn hue(colour: &Colour) -> &'static str {
    match colour {
        Colour::Red => "red",
        Colour::Green => "green",
    }
}

pub fn numbered(word: i32) -> i32 {
    match word {
        0 => 10,
        1 => 11,
        _ => 12,
    }
}

pub fn is_low(level: Level) -> bool {
    match level {
        Level::Low => true,
        _ => false,
    }
}

pub fn check() -> i32 {
    let shapes = [Shape::new(1, 2), Shape { width: 2, height: 3 }];
    let larger = shapes[0].grown(2);
    let mut named = HashMap::new();
    named.insert("first", 1);
    let pair = Pair(1, 2);
    let options = Options { deep: is_low(Level::High), ..Options::default() };
    let mut count = SIZES.len() + options.most;
    count += 1;
    println!("{} {} {}", larger, hue(&Colour::Red), count);
    total(&shapes, 1) + numbered(pair.0)
}
