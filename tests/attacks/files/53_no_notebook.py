"""Files that are no notebook at all."""

from tests.attacks.handed_in import content

LOGIN = b"<!DOCTYPE html><html><script>alert(1)</script></html>"
SCRIPT = b"# coding: utf-8\n# In[1]:\nimport numpy as np\n"

empty = content("empty", rejected="empty")(lambda honest: b"")
html_page = content("an HTML page", rejected="not a notebook")(lambda honest: LOGIN)
no_json = content("not JSON", rejected="not a notebook")(lambda honest: b"print('hello')")
other_json = content("JSON, but a list of numbers", rejected="not an object")(lambda honest: b"[1, 2, 3]")
python_script = content("a script called .ipynb", rejected="not a notebook")(lambda honest: SCRIPT)
truncated = content("cut off in the middle", rejected="cut off")(lambda honest: honest[: len(honest) // 2])
