from tests.attacks.corpus import ROOMY, variant

course_files = variant(
    "Walk the whole file system for sources, checks, banks, other submissions, the gradebook, the seed and home folders.",
    with_wrong="""
import contextlib, os, re, sys
from pathlib import Path
NAMES = re.compile(r"^(checks|probes|faults|a1_numpy_backprop|honest.*)\\.(py|ipynb|toml)$|^(seed|results.json|journal.jsonl|gradebook.db|shadow|authorized_keys|id_.*|\\.netrc|.*history)$")
ALLOWED = "course_lib/checks/"
count = 0
for folder, folders, names in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(folder, f) not in ("/proc", "/sys", "/usr")]
    for name in names:
        path = os.path.join(folder, name)
        count += 1
        if NAMES.search(name) and ALLOWED not in path and "site-packages" not in path and not path.startswith(os.getcwd()):
            if os.access(path, os.R_OK) and os.path.getsize(path):
                print("STOLEN sight of", path)
print(count, "files")
package = Path(sys.modules["course_lib"].__file__).parent
for guess in (package.parent / "notebooks", package.parent / "autograder", package.parent / "tests", Path("/home"), Path("/etc/shadow")):
    with contextlib.suppress(OSError):
        if guess.read_bytes() if guess.is_file() else list(guess.iterdir()):
            print("STOLEN list of", guess)
for guess in Path("/tmp").glob("ag*"), Path("/var/tmp").glob("*"):
    for found in guess:
        if found.name not in os.environ["HOME"]:
            print("STOLEN sight of", found)""",
    tier="files",
    limits=ROOMY,
)
