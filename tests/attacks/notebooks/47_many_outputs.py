"""Hundreds of added cells, each of which prints as much as one may."""

ENTRY, FAMILY = 47, "C"
EXPECTED = {}
EXTRA = [("test_train", "print('y' * 400_000)")] * 300
LIMITS = {"cell_s": 15.0, "notebook_s": 100.0, "memory_bytes": 1 << 30}
