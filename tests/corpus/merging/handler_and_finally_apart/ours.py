try:
    run()
except KeyError:
    stop(1)
finally:
    close()
