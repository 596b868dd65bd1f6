from tests.attacks.corpus import variant

import_reference = variant(
    "Import the reference: by every name it may have, from installed packages, from bytecode.",
    small_graph="""
import importlib, pkgutil, course_lib
wrong = None
NAMES = ["course_lib.solutions", "course_lib.reference", "solutions", "reference", "a1_numpy_backprop", "checks", "faults", "probes", "autograder.judge.reference", "autograder.judge.run", "autograder.selftest"]
NAMES += [m.name for m in pkgutil.iter_modules(course_lib.__path__, "course_lib.")]
found = {}
for name in NAMES:
    try:
        module = importlib.import_module(name)
    except BaseException:
        continue
    for what in ("small_graph", "softmax_cross_entropy", "two_layer_backward", "reference_names", "FAULTS"):
        thing = getattr(module, what, None)
        if thing is not None:
            found[what] = thing
            print("reference?", name, what)

def small_graph(x, y, z):
    return found["small_graph"](x, y, z) if "small_graph" in found else (0.0, x, y, z)""",
    tier="files",
)
