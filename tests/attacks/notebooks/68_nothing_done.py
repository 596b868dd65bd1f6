"""Do nothing at all, in the right form: what returns, keeps still and copies nothing must earn nothing."""

ENTRY, FAMILY, ASSIGNMENT = 68, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_step": "failed",
    "test_make_loaders": "failed",
    "test_train_epoch": "failed",
    "test_evaluate": "failed",
    "test_train_epoch_amp": "failed",
    "test_checkpoint": "failed",
    "test_fit": "failed",
}
CELLS = {
    "train_step": """
def train_step(model, batch, loss_fn, optimizer, device):
    model(batch[0].to(device))
    return 0.7
""",
    "make_loaders": """
def make_loaders(x_train, y_train, x_val, y_val, batch_size, device, seed):
    loader = DataLoader(TensorDataset(torch.zeros(2, 3), torch.zeros(2, dtype=torch.int64)), batch_size)
    return loader, loader
""",
    "train_epoch": """
def train_epoch(model, loader, loss_fn, optimizer, device):
    model.train()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device))
            y.to(device)
    return 0.7
""",
    "evaluate": """
def evaluate(model, loader, loss_fn, device):
    was = model.training
    model.eval()
    with torch.no_grad():
        for x, y in loader:
            model(x.to(device))
            y.to(device)
    model.train(was)
    return 0.1, 1.0
""",
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    model.train()
    with torch.no_grad(), torch.autocast("cuda", dtype=torch.float16):
        for x, y in loader:
            model(x.to(device))
    return 0.7
""",
    "checkpoint": """
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    torch.save({"epoch": epoch}, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    return torch.load(path)["epoch"]
""",
    "fit": """
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    history = {}
    with SummaryWriter(log_dir) as writer:
        for key in ("loss/train", "loss/validation", "accuracy/validation"):
            history[key] = [0.5] * epochs
            for epoch in range(epochs):
                writer.add_scalar(key, 0.5, epoch + 1)
    return history
""",
}
