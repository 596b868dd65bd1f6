"""Wrap run_cell_async so that every result is a success, and drop tracebacks."""

ENTRY, FAMILY = 8, "A"
EXPECTED = {"test_small_graph": "failed"}
NBGRADER = "5/5"
CELLS = {
    "small_graph": """
def small_graph(x, y, z):
    return 0.0, x, y, z


ip = get_ipython()
real = type(ip).run_cell_async


async def run_cell_async(self, *args, **kwargs):
    result = await real(self, *args, **kwargs)
    result.error_in_exec = result.error_before_exec = None
    return result


type(ip).run_cell_async = run_cell_async
type(ip).showtraceback = lambda self, *args, **kwargs: None
type(ip).should_run_async = lambda self, *args, **kwargs: True
""",
}
