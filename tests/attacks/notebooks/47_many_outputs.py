"""Hundreds of added cells, each of which prints as much as one may."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {}
EXTRA = [("test_train", "print('y' * 400_000)")] * 300
LIMITS = {"cell_s": 2.0, "notebook_s": 60.0}
