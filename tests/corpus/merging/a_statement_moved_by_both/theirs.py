def plant(bed):
    first = bed.rows
    count = 1
    depth = 3
    width = 2
    last = bed.rows
