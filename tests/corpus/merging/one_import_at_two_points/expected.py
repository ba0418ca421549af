import re
import os

print(os)
