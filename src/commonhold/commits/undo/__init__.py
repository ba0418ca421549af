"""Undo: take back the commits of one session, of one task, or one commit, by a commit that inverts them."""
