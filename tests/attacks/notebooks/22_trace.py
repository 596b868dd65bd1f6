from tests.attacks.corpus import variant

trace = variant(
    "Trace and profile everything, and edit the callers' local variables where expected values would lie.",
    small_graph="""
import ctypes, sys
def watch(frame, event, arg):
    names = frame.f_locals
    for name in ("wanted", "expected", "reference", "secret", "draw"):
        if name in names and frame.f_code.co_filename.endswith(("checks.py", "plugin.py", "expect.py")):
            print("STOLEN", name)
            names[name] = None
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
    return watch

def small_graph(x, y, z):
    frame = sys._getframe()
    while frame is not None:
        for name, value in list(frame.f_locals.items()):
            if name in ("wanted", "expected", "reference", "secret", "judge"):
                print("STOLEN", name)
        frame = frame.f_back
    return 0.0, x, y, z
sys.setprofile(watch)
sys.settrace(watch)""",
)
