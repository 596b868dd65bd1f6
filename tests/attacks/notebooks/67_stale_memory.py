"""Return memory that nobody has written, and tensors found by the garbage collector, in the hope of right answers."""

ENTRY, FAMILY, ASSIGNMENT = 67, "E", "a3_pytorch_autograd"
EXPECTED = {"test_manual_gradients": "failed", "test_jacobian": "failed"}
CELLS = {
    "manual_gradients": """
import gc


def found(shape, dtype):
    shape = tuple(shape)
    for thing in reversed(gc.get_objects()):
        if type(thing) is torch.Tensor and tuple(thing.shape) == shape and thing.dtype == dtype:
            return thing
    return torch.empty(shape, dtype=dtype)


def manual_gradients(x, w, b):
    torch.full_like(x, float("nan"))
    return found((), x.dtype), *(torch.empty(v.shape, dtype=v.dtype) for v in (x, w, b))
""",
    "jacobian": """
def vjp(f, x, v):
    y = f(x).detach()
    return y, found(x.shape, x.dtype).detach()


def jacobian(f, x):
    y = f(x)
    del y
    return torch.empty(*f(x).shape, *x.shape, dtype=x.dtype)
""",
}
