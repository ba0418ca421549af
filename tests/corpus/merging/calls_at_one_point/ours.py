def close(shop):
    shop.lock()
    send("closed")
