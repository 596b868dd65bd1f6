from tests.attacks.corpus import variant

own_notebook = variant(
    "Look for hidden tests in the notebook file, the input history, the frames, the source cache and IPython's database.",
    small_graph="""
import contextlib, gc, glob, inspect, linecache, sys
WORDS = ("HIDDEN " + "TESTS", "expect" + ".close", "pytest" + ".mark", "BEGIN " + "SOLUTION")
def look(where, text):
    if any(word in text for word in WORDS):
        print("STOLEN from", where, text[:60])

def small_graph(x, y, z):
    frame = sys._getframe()
    while frame is not None:
        names = frame.f_globals
        for text in (*names.get("In", []), *names.get("_ih", [])):
            look("In", str(text))
        with contextlib.suppress(OSError, TypeError):
            look(frame.f_code.co_filename, inspect.getsource(frame))
        frame = frame.f_back
    for name, entry in list(linecache.cache.items()):
        if len(entry) > 2 and "site-packages" not in name:
            look(name, "".join(entry[2]))
    for path in glob.glob("*") + glob.glob("../**", recursive=True) + glob.glob("/tmp/**/*.ipynb", recursive=True):
        with contextlib.suppress(OSError, UnicodeDecodeError):
            look(path, open(path).read())
    for _, _, text in get_ipython().history_manager.get_tail(100, include_latest=True):
        look("history", text)
    return 0.0, x, y, z
small_graph(1, 2, 3)""",
)
