"""Many cells that each sleep a little less than a cell may: no single one is too slow."""

ENTRY, FAMILY = 41, "C"
# What answers at once still counts; the sleeping ends when the notebook's time is over.
EXPECTED = {}
AT_MOST_S = 25.0
LIMITS = {"cell_s": 2.0, "notebook_s": 3.0}
EXTRA = [("", "import time\n\ntime.sleep(5)")] * 8
