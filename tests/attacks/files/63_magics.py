"""Shell commands and magics: they run in the box, or not at all; reading them runs nothing."""

from tests.attacks.handed_in import code, notebook

# fmt: off
LINES = (
    "!touch ../../../escaped", "%%bash\ntouch ../../../escaped", "%%writefile ../../../escaped\nx", "%run escaped.py",
    "%cd /", "%reset -f", "%load x", "%pip install evil", "%autoreload 2", "files = !ls", "?help", "%%html\n<b>",
)
# fmt: on


@notebook("shell commands and magics in added cells")
def magics(notebook):
    notebook["cells"] += map(code, LINES)
