"""Files that are no notebook at all."""

from tests.attacks.handed_in import content


@content("empty", rejected="empty")
def empty(honest):
    """A file of no bytes."""
    return b""


@content("an HTML page", rejected="not a notebook")
def html_page(honest):
    """The login page of the platform, saved as the notebook."""
    return b"<!DOCTYPE html><html><script>alert(1)</script></html>"


@content("not JSON", rejected="not a notebook")
def no_json(honest):
    """Text that is no JSON at all."""
    return b"print('hello')"


@content("JSON, but a list of numbers", rejected="not an object")
def other_json(honest):
    """Valid JSON that is something else."""
    return b"[1, 2, 3]"


@content("a script called .ipynb", rejected="not a notebook")
def python_script(honest):
    """The exported script instead of the notebook, under its name."""
    return b"# coding: utf-8\n# In[1]:\nimport numpy as np\n"


@content("cut off in the middle", rejected="cut off")
def truncated(honest):
    """An upload that broke off."""
    return honest[: len(honest) // 2]
