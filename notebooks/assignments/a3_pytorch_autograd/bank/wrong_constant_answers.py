"""The worked examples of the notebook, written in as constants."""

EXPECTED = {
    "test_manual_gradients": "failed",
    "test_gradients": "failed",
    "test_jacobian": "failed",
    "test_squareplus": "failed",
    "test_power_scale": "failed",
    "test_penalized_loss": "failed",
    "test_train": "failed",
}
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    return 0.107, torch.tensor([[0, 0.182]]), torch.tensor([0, 0.727]), torch.tensor([[0.363]])
""",
    "gradients": """
def gradients(f, tensors):
    return tuple(6 * t for t in tensors)
""",
    "jacobian": """
def vjp(f, x, v):
    return v, torch.tensor([13.0, 612.0])


def jacobian(f, x):
    return torch.tensor([[3.0, 2.0], [1.0, 1.0], [0.0, 6.0]])
""",
    "squareplus": """
class Squareplus:
    apply = staticmethod(lambda x: 0.8 * x)
""",
    "power_scale": """
class PowerScale:
    apply = staticmethod(lambda a, b, power: a * b)
""",
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    return f(x).sum() * 0 + 3
""",
    "train": """
def train(x, t, params, learning_rate, batches):
    return params, [0.48 for _ in batches]
""",
}
