def report(orders):
    title = "Orders"
    middle = 0
    footer = "end"
    return title, middle, footer
