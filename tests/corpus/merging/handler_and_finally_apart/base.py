try:
    run()
except KeyError:
    stop()
finally:
    close()
