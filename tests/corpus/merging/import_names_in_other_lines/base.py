from shop import (
    one,
    two,
)

print(one, two)
