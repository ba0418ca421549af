"""JavaScript and TypeScript: the names that a file offers and uses, and how files find each other."""
