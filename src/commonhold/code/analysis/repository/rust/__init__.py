"""Rust: the names that a file offers and uses, and how modules and crates find each other."""
