"""The HTTP interface: access, routes, streams, metrics."""
