"""Use cases. They reach the outside world through the ports, and know no concrete file, database or clock."""
