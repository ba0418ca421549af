def close(shop):
    shop.lock()
