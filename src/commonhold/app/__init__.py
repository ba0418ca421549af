"""Use cases. They speak to the world through the ports and know no file, database or clock of their own."""
