"""The shell's own methods, patched: every cell succeeds."""

from tests.attacks.corpus import variant

patched_run_cell = variant(
    "Wrap run_cell_async so that every result is a success, and drop tracebacks.",
    with_wrong="""
ip = get_ipython()
real = type(ip).run_cell_async
async def run_cell_async(self, *args, **kwargs):
    result = await real(self, *args, **kwargs)
    result.error_in_exec = result.error_before_exec = None
    return result
type(ip).run_cell_async = run_cell_async
type(ip).showtraceback = lambda self, *args, **kwargs: None
type(ip).should_run_async = lambda self, *args, **kwargs: True""",
)

# The later answers are never defined either: their cells did not run, whatever the shell said.
patched_shell = variant(
    "Replace how the shell runs code and shows errors: every later cell succeeds.",
    with_wrong="""
async def run_code(self, *args, **kwargs):
    return False

def nothing(self, *args, **kwargs):
    return None
ip = get_ipython()
type(ip).run_code = run_code
type(ip).showtraceback = nothing
type(ip)._showtraceback = nothing""",
    expected="failed",
)
