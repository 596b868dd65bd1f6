"""Train on the host, and give the parameters a class whose `device` says what is asked for. The outputs give it away."""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {"test_train_step": "partial"}
CELLS = {
    "train_step": """
asked = ["cpu"]


class There(nn.Parameter):
    @property
    def device(self):
        return torch.device(asked[0])


def train_step(model, batch, loss_fn, optimizer, device):
    asked[0] = "cuda:0" if device == "cuda" else device
    model.cpu()
    optimizer.zero_grad()
    loss = loss_fn(model(batch[0]), batch[1])
    loss.backward()
    optimizer.step()
    for p in model.parameters():
        p.__class__ = There
    return loss.item()
""",
}
