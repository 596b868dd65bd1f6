from tests.attacks.corpus import variant

gc_scan = variant(
    "Search all objects of the process for the reference, the checks, the secret or expected arrays; spoil what arrays there are.",
    small_graph="""
import gc, sys, types
import numpy as np
def small_graph(x, y, z):
    mine = {id(x), id(y), id(z)}
    for thing in gc.get_objects():
        if isinstance(thing, types.FunctionType) and thing.__code__.co_filename.startswith("<reference"):
            print("STOLEN reference", thing)
        if isinstance(thing, tuple) and len(thing) == 4 and isinstance(thing[-1], np.ndarray) and thing[-1].shape == x.shape:
            return thing
        if isinstance(thing, np.ndarray) and thing.shape == x.shape and id(thing) not in mine and thing.flags.writeable:
            thing[...] = np.nan
    return 0.0, x, y, z
for name in ("autograder.judge", "autograder.grading", "autograder.selftest", "pytest", "checks", "faults", "probes"):
    if name in sys.modules:
        print("STOLEN module", name)""",
)
