try:
    run()
except KeyError:
    stop()
