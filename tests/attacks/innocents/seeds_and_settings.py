"""Seeds, print options, error states and recursion limits set for the whole session."""

ENTRY, FAMILY = 80, "innocent"
EXPECTED = {}
EXTRA = [
    (
        "",
        """
import os
import random
import sys
import warnings

import numpy as np

random.seed(0)
np.random.seed(0)
np.set_printoptions(precision=3, suppress=True)
np.seterr(all="ignore")
sys.setrecursionlimit(10_000)
os.environ["OMP_NUM_THREADS"] = "2"
warnings.filterwarnings("ignore")
IN_COLAB = "google.colab" in sys.modules
""",
    )
]
