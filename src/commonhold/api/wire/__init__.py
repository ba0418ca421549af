"""The JSON forms of requests, events and answers."""
