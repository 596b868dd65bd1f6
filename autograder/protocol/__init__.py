"""What judge and kernel speak: values as JSON and bytes, probes as source, frames. Both sides import it.

Nothing here holds state that one side could change for the other: each process has its own copy, and what arrives is
checked by the receiver's.
"""
