"""Later cells swallowed before they run."""

from tests.attacks.corpus import variant

input_transformer = variant(
    "Register input transformers and a cell magic that replace the text of later test cells.",
    small_graph="""
def swallow(lines):
    text = "".join(lines)
    return ["pass\\n"] if "checks." in text or "assert" in text else lines

ip = get_ipython()
ip.input_transformers_post.append(swallow)
ip.input_transformers_cleanup.append(swallow)
ip.register_magic_function(lambda line, cell: None, "cell", "time")

def small_graph(x, y, z):
    return 0.0, x, y, z
""",
    nbgrader="5/5",
)
