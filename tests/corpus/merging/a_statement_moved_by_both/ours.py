def plant(bed):
    first = bed.rows
    width = 2
    count = 1
    depth = 3
    last = bed.rows
