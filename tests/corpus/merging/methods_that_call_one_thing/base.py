class Plants:
    rows = 1
