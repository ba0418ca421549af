import re
import os

import re
print(os)
