import shop
from stock import *

print(open)
