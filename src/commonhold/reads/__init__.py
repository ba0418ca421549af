"""What each session has read, and what others have changed since."""
