def report(orders):
    title = "All orders"
    middle = 0
    footer = "the end"
    return title, middle, footer
