"""The state and the log as people look at them: rows for the dashboard, and for `commonhold top`."""
