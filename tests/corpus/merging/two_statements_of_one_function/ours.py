def report(orders):
    title = "All orders"
    middle = 0
    footer = "end"
    return title, middle, footer
