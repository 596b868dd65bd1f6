"""Exercise 1 with backward(), which has nothing to go back through in inference mode."""

EXPECTED = {
    "test_manual_gradients": "failed:manual-uses-autograd",
}
KIND = "fault"
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    x, w, b = (t.clone().requires_grad_() for t in (x, w, b))
    loss = torch.tanh(x * w + b).pow(2).mean()
    loss.backward()
    return loss.detach(), x.grad, w.grad, b.grad
""",
}
