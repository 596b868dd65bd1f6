from tests.attacks.corpus import variant

torch_subclass = variant(
    "Return a torch tensor whose class answers every torch function with yes.",
    small_graph="""
import torch
class Agreeable(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        name = getattr(function, "__name__", "")
        if name in ("allclose", "equal", "isclose", "__eq__", "all"):
            return True
        return super().__torch_function__(function, types, args, kwargs or {})

def small_graph(x, y, z):
    tensor = torch.zeros(x.shape).as_subclass(Agreeable)
    return torch.zeros(()).as_subclass(Agreeable), tensor, tensor, tensor""",
    flags=["forbidden-import"],
)
