from tests.attacks.corpus import variant

input_transformer = variant(
    "Register input transformers and a cell magic that replace the text of later test cells.",
    with_wrong="""
def swallow(lines):
    text = "".join(lines)
    return ["pass\\n"] if "checks." in text or "assert" in text else lines
ip = get_ipython()
ip.input_transformers_post.append(swallow)
ip.input_transformers_cleanup.append(swallow)
ip.register_magic_function(lambda line, cell: None, "cell", "time")""",
)
