from tests.attacks.corpus import variant

stderr_noise = variant(
    "Warnings, log lines and tracebacks on stderr beside wrong code: noise moves no score either way.",
    small_graph="""
import logging, sys, traceback, warnings
def small_graph(x, y, z):
    warnings.warn("grading disabled", stacklevel=1)
    logging.critical("score: 2/2")
    sys.stderr.write("Traceback (most recent call last):\\nNothing: wrong\\n")
    try:
        1 / 0
    except ZeroDivisionError:
        traceback.print_exc()
    return 0.0, x, y, z
warnings.showwarning = lambda *args, **kwargs: None
small_graph(1, 2, 3)""",
)
