"""The merge queue: its entries, the decisions about them, and the order in which they land."""
