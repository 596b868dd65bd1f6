"""Leave inference mode and let autograd find what was to be done by hand: right numbers, and a flag for a person."""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a3_pytorch_autograd"
EXPECTED = {}
FLAGS = ["observed"]
CELLS = {
    "manual_gradients": """
def manual_gradients(x, w, b):
    with torch.inference_mode(False), torch.enable_grad():
        inputs = [value.clone().requires_grad_() for value in (x, w, b)]
        loss = (torch.tanh(inputs[0] * inputs[1] + inputs[2]) ** 2).mean()
        return loss.detach(), *torch.autograd.grad(loss, inputs)
""",
}
