import os
import json
import sys

print(os.name, sys.argv)
