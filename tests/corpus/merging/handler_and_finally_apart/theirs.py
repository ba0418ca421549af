try:
    run()
except KeyError:
    stop()
finally:
    close(2)
