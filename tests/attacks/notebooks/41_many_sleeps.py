"""Many cells that each sleep a little less than a cell may: no single one is too slow."""

ENTRY, FAMILY = 41, "C"
EXPECTED = {}
DEFAULT = "time"
LIMITS = {"cell_s": 2.0, "notebook_s": 3.0}
EXTRA = [("", "import time\n\ntime.sleep(5)")] * 8
