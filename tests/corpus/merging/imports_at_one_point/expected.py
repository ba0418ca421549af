import os
from pathlib import Path
import json
import sys

print(os.name, sys.argv)
