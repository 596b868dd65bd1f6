"""Take the steps of exercise 7 with an optimiser of PyTorch, fetched under another name: right, and flagged."""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a3_pytorch_autograd"
EXPECTED = {}
FLAGS = ["observed"]
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    params = {name: value.detach().clone().requires_grad_() for name, value in params.items()}
    ready_made = getattr(getattr(torch, "op" + "tim"), "SG" + "D")(list(params.values()), lr=learning_rate)
    losses = []
    for batch in batches:
        hidden = torch.tanh(x[batch] @ params["W1"] + params["b1"])
        loss = (((hidden @ params["W2"] + params["b2"]).squeeze(dim=1) - t[batch]) ** 2).mean()
        ready_made.zero_grad()
        loss.backward()
        ready_made.step()
        losses.append(loss.item())
    return params, losses
""",
}
