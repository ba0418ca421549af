try:
    run()
except KeyError:
    stop()
except OSError:
    swim()
