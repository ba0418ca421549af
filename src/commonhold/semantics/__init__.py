"""Python source in, interfaces and same-file edges out: who is affected by a change. Pure."""
