"""Names and texts that are commands where an instructor opens them."""

from tests.attacks.handed_in import flat, notebook


# Opened in a spreadsheet, such a name is a command.
@flat("students called =cmd() and @SUM()", flags=("renamed-student",))
def formula_as_name(folder, honest):
    for number, name in enumerate(("=cmd|' -C calc'!A0", "@SUM(1+1)", "+1", "-1")):
        (folder / f"{name}.ipynb").write_bytes(honest + b" " * number)


@flat("a student called <script>", flags=("renamed-student",))
def html_as_name(folder, honest):
    (folder / "<script>alert(1)<script>.ipynb").write_bytes(honest + b" ")


# Markdown takes HTML, and formgrader shows what it is given.
@notebook("scripts in text, raw cells, outputs and metadata", smuggled=("<script",))
def html_in_text(notebook):
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)><iframe srcdoc='x'></iframe>"
    for kind in ("markdown", "raw"):
        notebook["cells"].append({"cell_type": kind, "metadata": {"format": "text/html"}, "source": evil})
    data = {"text/html": evil, "application/javascript": evil}
    output = {"output_type": "display_data", "metadata": {}, "data": data}
    notebook["cells"].append({"cell_type": "code", "metadata": {"title": evil}, "outputs": [output], "source": "1"})
