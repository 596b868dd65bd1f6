"""Exercise 1 with autograd.grad under enable_grad, on the given tensors' own copies."""

EXPECTED = {
    "test_manual_gradients": "failed:manual-uses-autograd",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    with torch.enable_grad():
        leaves = [torch.nn.Parameter(t.detach()) for t in (x, w, b)]
        loss = (torch.tanh(leaves[0] * leaves[1] + leaves[2]) ** 2).mean()
        return (loss.detach(), *torch.autograd.grad(loss, leaves))
""",
}
