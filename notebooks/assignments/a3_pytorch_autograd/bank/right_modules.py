"""nn.Parameter for the parameters and ready-made layers' functions; prints."""

EXPECTED = {}
CELLS = {
    "train": """
def train(x, t, params, learning_rate, batches):
    net = torch.nn.ParameterDict({k: torch.nn.Parameter(v.detach().clone()) for k, v in params.items()})
    losses = []
    for step, batch in enumerate(batches):
        net.zero_grad()
        hidden = torch.nn.functional.linear(x[batch], net["W1"].T, net["b1"]).tanh()
        out = torch.nn.functional.linear(hidden, net["W2"].T, net["b2"])
        loss = torch.nn.MSELoss()(out, t[batch].reshape(-1, 1))
        loss.backward()
        with torch.no_grad():
            for p in net.parameters():
                p.add_(p.grad, alpha=-learning_rate)
        losses.append(loss.item())
        print(f"step {step}: {loss.item():.3f}")
    return {k: p for k, p in net.items()}, losses
""",
    "penalized_loss": """
def penalized_loss(f, x, t, strength):
    x = torch.nn.Parameter(x.detach().clone())
    pred = f(x)
    (slope,) = torch.autograd.grad([p for p in pred], [x], create_graph=True)
    print(pred.shape, slope.shape)
    return torch.mean((pred - t) ** 2) + strength * torch.mean(torch.linalg.vecdot(slope, slope))
""",
}
