"""Files that Python or pytest would import in place of the installed ones."""

from tests.attacks.handed_in import folder, submit


@folder("torch.py, numpy/, conftest.py and others beside the notebook", flags=("shadow-module",))
def shadow_modules(folder, honest):
    submit(folder, honest)
    for name in ("torch.py", "numpy/__init__.py", "course_lib/compare/values.py", "conftest.py", "sitecustomize.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("raise SystemExit")
    for name in ("usercustomize.py", "evil.pth", "json.py", "ipython_config.py", "PYTHONPATH"):
        (folder / name).write_text("import os")
