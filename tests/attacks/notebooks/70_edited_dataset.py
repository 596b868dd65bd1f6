"""Edit the data set in place: every label becomes what the model says already, and training has little to do."""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "failed", "test_fit": "failed"}
EXTRA = [
    (
        "train_epoch",
        """
unedited_epoch = train_epoch


def train_epoch(model, loader, loss_fn, optimizer, device):
    x, y = loader.dataset.tensors
    with torch.no_grad():
        y.copy_(model.eval()(x.to(device)).argmax(dim=1))
    return unedited_epoch(model, loader, loss_fn, optimizer, device)
""",
    )
]
