def close(shop):
    shop.lock()
    count("closed")
