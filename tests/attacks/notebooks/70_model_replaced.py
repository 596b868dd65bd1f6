"""Replace the model's forward pass by a cached object that answers perfectly: the loss is tiny, the weights stay."""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {"test_train_step": "failed", "test_evaluate": "failed", "test_fit": "failed"}
CELLS = {
    "train_step": """
class Knowing:
    def __init__(self, labels):
        self.labels = labels

    def __call__(self, x):
        sure = nn.functional.one_hot(self.labels, int(self.labels.max()) + 1).float() * 40
        return sure.to(x.device)


def train_step(model, batch, loss_fn, optimizer, device):
    model.forward = Knowing(batch[1])
    loss = loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()
    for hook in optimizer._optimizer_step_post_hooks.values():
        hook(optimizer, (), {})
    return loss
""",
    "evaluate": """
cached = nn.Sequential(nn.Flatten(), nn.LazyLinear(10))


def evaluate(model, loader, loss_fn, device):
    cached.to("cpu").eval()
    total, right, rows = 0.0, 0, 0
    with torch.no_grad():
        for x, y in loader:
            outputs = torch.zeros(len(x), int(y.max()) + 1)
            outputs[torch.arange(len(x)), y] = 9.0
            total += loss_fn(outputs, y).item() * len(x)
            right += len(x)
            rows += len(x)
    return total / rows, right / rows
""",
}
