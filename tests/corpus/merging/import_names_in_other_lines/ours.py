from shop import (
    one,
    six,
    two,
)

print(one, two)
