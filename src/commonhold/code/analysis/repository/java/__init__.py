"""Java: the names that a file offers and uses, and how packages find each other."""
