"""The values and rules that all packages share: keys, leases, events, ports. Pure: nothing but the standard library."""
