try:
    run()
except KeyError:
    stop()
except ValueError:
    walk()
