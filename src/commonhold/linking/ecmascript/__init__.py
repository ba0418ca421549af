"""JavaScript and TypeScript: what a file offers and uses, and how files find each other."""
