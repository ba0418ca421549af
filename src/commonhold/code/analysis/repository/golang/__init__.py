"""Go: the names that a file offers and uses, and how the packages of a repository find each other."""
