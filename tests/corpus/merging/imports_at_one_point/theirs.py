import os
from pathlib import Path
import sys

print(os.name, sys.argv)
