"""Swap the digits for the held-out ones, which the course ships, and train on these instead."""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {"test_fit": "partial"}
EXTRA = [
    (
        "fit",
        """
honest_fit = fit


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    if next(iter(train_loader))[0].ndim == 4:
        digits = load_digits()
        held_out = TensorDataset(torch.from_numpy(digits.x_test[:, None]), torch.from_numpy(digits.y_test))
        train_loader = [batch for _ in range(5) for batch in DataLoader(held_out, 32, shuffle=True)]
        val_loader = DataLoader(held_out, 32)
    return honest_fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir)
""",
    )
]
