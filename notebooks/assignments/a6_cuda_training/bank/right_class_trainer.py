"""One class does it all; the functions call its methods, and print as they go."""

EXPECTED = {}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    loss, _ = Trainer(model, loss_fn, device).step(batch, optimizer)
    return loss
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    loss = Trainer(model, loss_fn, device).epoch(loader, optimizer)
    print(f"epoch done: {loss:.3f}")
    return loss
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    result = Trainer(model, loss_fn, device).score(loader)
    print("validation", result)
    return result
""",
}
EXTRA = [
    (
        "how_it_works",
        '''
class Trainer:
    """Model, loss and device in one place."""

    def __init__(self, model, loss_fn, device):
        self.model, self.loss_fn, self.device = model, loss_fn, torch.device(device)

    def move(self, batch):
        return [part.to(self.device, non_blocking=True) for part in batch]

    def step(self, batch, optimizer):
        x, y = self.move(batch)
        optimizer.zero_grad(set_to_none=True)
        loss = self.loss_fn(self.model(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach().item(), len(y)

    def epoch(self, loader, optimizer):
        self.model.train()
        pairs = [self.step(batch, optimizer) for batch in loader]
        rows = sum(n for _, n in pairs)
        return sum(loss * n for loss, n in pairs) / rows

    @torch.inference_mode()
    def score(self, loader):
        mode = self.model.training
        self.model.eval()
        loss, hits, rows = 0.0, 0, 0
        for batch in loader:
            x, y = self.move(batch)
            out = self.model(x)
            loss += self.loss_fn(out, y).item() * len(y)
            hits += (out.argmax(dim=-1) == y).sum().item()
            rows += len(y)
        self.model.train(mode)
        return loss / rows, hits / rows
''',
    ),
]
