"""Several processes that train one network: started safely, with every byte between them counted.

`processes.run` starts them, `exchange` is data-parallel training by hand in NumPy, `replicas` the same with PyTorch's
DistributedDataParallel; `launch` lets torchrun start them. Import `replicas` only where PyTorch is wanted: a new
process imports what it runs.
"""

from course_lib.lectures.distributed.processes import Outcome, Wire, WorkerError, run

__all__ = ["Outcome", "Wire", "WorkerError", "run"]
