def report(orders):
    title = "Orders"
    middle = 0
    footer = "the end"
    return title, middle, footer
