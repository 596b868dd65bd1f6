"""Which mixtures of devices CUDA refuses and which it allows: small programs, what they must do, and who says so.

The table is the contract of virtual CUDA. Each row names its source; `record` runs all rows on a real GPU and stores
what it said, and from then on the record is the source for that version of torch.
"""

PARTS = ("layers", "operators", "indexing", "hosts", "training")
"""the modules of the table"""
