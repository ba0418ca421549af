def plant(bed):
    first = bed.rows
    count = 1
    width = 2
    depth = 3
    last = bed.rows
