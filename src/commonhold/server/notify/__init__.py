"""Notifications of decisions that need a person: by webhooks, and on the desktop."""
