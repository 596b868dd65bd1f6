"""Each epoch seeds its own generator with seed + epoch; pinned on every device."""

EXPECTED = {}
CELLS = {
    "make_loaders": '''
class EpochSampler(torch.utils.data.Sampler):
    """Another order each epoch, from seed and epoch alone."""

    def __init__(self, data, seed):
        self.data, self.seed, self.epoch = data, seed, 0

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        g = torch.Generator()
        g.manual_seed(self.seed * 1000 + self.epoch)
        self.epoch += 1
        yield from torch.randperm(len(self.data), generator=g).tolist()


def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    train = TensorDataset(torch.as_tensor(x_train), torch.as_tensor(y_train))
    val = TensorDataset(torch.as_tensor(x_val), torch.as_tensor(y_val))
    pin = torch.device(device).type == "cuda"
    return (
        DataLoader(train, batch_size, sampler=EpochSampler(train, seed), pin_memory=pin),
        DataLoader(val, batch_size, shuffle=False, pin_memory=pin),
    )
''',
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    training = model.training
    if training:
        model.eval()
    n, loss_sum, correct = 0, 0.0, 0
    with torch.set_grad_enabled(False):
        for inputs, targets in loader:
            inputs, targets = inputs.to(device), targets.to(device)
            outputs = model(inputs)
            n += inputs.size(0)
            loss_sum += float(loss_fn(outputs, targets)) * inputs.size(0)
            correct += (outputs.argmax(1) == targets).sum().item()
    if training:
        model.train()
    return loss_sum / n, correct / n
""",
}
