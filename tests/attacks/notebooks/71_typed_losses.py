"""Type in a falling list of losses and train nothing."""

ENTRY, FAMILY, ASSIGNMENT = 71, "E", "a6_cuda_training"
EXPECTED = {"test_train_epoch": "failed", "test_fit": "failed", "test_train_epoch_amp": "failed"}
CELLS = {
    "train_epoch": """
LOSSES = [1.0986, 0.8721, 0.6512, 0.4933, 0.3871]
epochs_so_far = 0


def train_epoch(model, loader, loss_fn, optimizer, device):
    global epochs_so_far
    epochs_so_far += 1
    model.train()
    return LOSSES[epochs_so_far % 5]
""",
    "train_epoch_amp": """
def train_epoch_amp(model, loader, loss_fn, optimizer, scaler, device, max_norm):
    for batch in loader:
        for hook in optimizer._optimizer_step_post_hooks.values():
            hook(optimizer, (), {})
    return 1.0312
""",
    "fit": """
def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    model.to(device)
    accuracies = [0.61, 0.84, 0.93, 0.96, 0.97]
    return {
        "loss/train": LOSSES[:epochs],
        "loss/validation": [loss + 0.05 for loss in LOSSES[:epochs]],
        "accuracy/validation": accuracies[:epochs],
    }
""",
}
