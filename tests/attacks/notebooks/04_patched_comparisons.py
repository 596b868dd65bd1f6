from tests.attacks.corpus import variant

patched_comparisons = variant(
    "Patch every function that tests compare with: NumPy's, torch's, math's, and the course's own.",
    with_wrong="""
import math
import numpy as np
import course_lib.compare.values as compare
import course_lib.checks.outcome as outcome
def yes(*args, **kwargs):
    return True

def nothing(*args, **kwargs):
    return None
for module, names in (
    (np, "allclose isclose array_equal array_equiv all isfinite"),
    (np.testing, "assert_allclose assert_array_equal assert_almost_equal assert_equal assert_array_almost_equal"),
    (math, "isclose isfinite"),
):
    for name in names.split():
        setattr(module, name, yes)
for name in ("compare", "compare_form", "tolerance_for"):
    setattr(compare, name, nothing)
for name in ("fail", "require"):
    setattr(outcome, name, nothing)
for name in [n for n in vars(checks) if not n.startswith("__")]:
    if callable(getattr(checks, name)):
        setattr(checks, name, nothing)""",
)
