"""The context archive of a working tree: its Markdown files, and a searchable copy of them."""
