"""The device itself: marks on storages, memory, the rules of mixing devices, and the mode that sees every operator.

Needs torch; writes to the log, and knows nothing of `torch.cuda` or of how a log is shown.
"""
