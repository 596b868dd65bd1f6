from tests.attacks.corpus import variant

patched_builtins = variant(
    "Patch builtins: what compares, what counts, what imports, and AssertionError itself.",
    with_wrong="""
import builtins
class NoError(BaseException):
    def __new__(cls, *args): raise SystemExit(0)
real_import, real_isinstance = builtins.__import__, builtins.isinstance
builtins.all = lambda *args: True
builtins.any = lambda *args: False
builtins.AssertionError = NoError
builtins.__import__ = lambda name, *args, **kwargs: real_import("math" if name == "pytest" else name, *args, **kwargs)""",
)
