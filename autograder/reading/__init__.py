"""The parts of reading a submission: bytes repaired, code looked at without running it, cells matched."""
