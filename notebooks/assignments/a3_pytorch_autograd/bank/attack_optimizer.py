"""Exercise 7 with an optimizer of torch.optim: all of it is right, and a person is told."""

KIND = "attack"
BREAKS = ("Exercise 7 is done without `torch.optim`",)
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    params = {k: v.detach().clone().requires_grad_() for k, v in params.items()}
    optimizer = torch.optim.SGD(params.values(), lr=learning_rate)
    losses = []
    for rows in batches:
        out = torch.tanh(x[rows] @ params["W1"] + params["b1"]) @ params["W2"] + params["b2"]
        loss = torch.nn.functional.mse_loss(out.flatten(), t[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return params, losses
""",
}
