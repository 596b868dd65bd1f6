from tests.attacks.corpus import variant

cleared_output = variant(
    "Clear outputs, rewrite earlier ones, and hook what runs after each cell.",
    with_wrong="""
from IPython.display import clear_output, display, update_display
def afterwards(result=None):
    clear_output()
    update_display({"text/plain": "2"}, display_id="score", raw=True)
    if result is not None:
        result.error_in_exec = None
handle = display("ok", display_id="score")
get_ipython().events.register("post_run_cell", afterwards)
get_ipython().events.register("pre_run_cell", lambda *args: clear_output())
clear_output()
raise ValueError("to be hidden")""",
)
