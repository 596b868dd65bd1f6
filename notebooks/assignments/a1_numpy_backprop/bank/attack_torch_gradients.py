"""The gradients of exercise 4 come from PyTorch: each is right, and a person is told."""

KIND = "attack"
BREAKS = ("no package that computes gradients",)
CELLS = {
    "two_layer_forward": """
def two_layer_forward(x, params):
    return np.maximum(x @ params["W1"] + params["b1"], 0) @ params["W2"] + params["b2"], (x, params)
""",
    "two_layer_backward": """
import torch

def two_layer_backward(dscores, cache):
    x, params = cache
    w = {k: torch.tensor(v, dtype=torch.float64, requires_grad=True) for k, v in params.items()}
    scores = torch.relu(torch.tensor(x, dtype=torch.float64) @ w["W1"] + w["b1"]) @ w["W2"] + w["b2"]
    scores.backward(torch.tensor(dscores, dtype=torch.float64))
    return {k: v.grad.numpy() for k, v in w.items()}
""",
}
