"""Fetch trained weights and data from the network, in three ways. There is no network, and no other plan."""

ENTRY, FAMILY, ASSIGNMENT = 70, "E", "a6_cuda_training"
EXPECTED = {"test_fit": "failed"}
AT_MOST_S = 100
CELLS = {
    "fit": """
import subprocess
import urllib.request

WHERE = "https://github.com/pytorch/examples/raw/main/mnist/model.pt"


def fit(model, train_loader, val_loader, epochs, learning_rate, device, log_dir):
    found = None
    for fetch in (
        lambda: urllib.request.urlopen(WHERE, timeout=1).read(),
        lambda: torch.hub.load_state_dict_from_url(WHERE, progress=False),
        lambda: subprocess.run(["curl", "-sfm1", WHERE], capture_output=True, check=True, timeout=3).stdout,
    ):
        try:
            found = fetch()
        except Exception:
            continue
        print("STOLEN weights from outside")
    if isinstance(found, dict):
        model.load_state_dict(found, strict=False)
    model.to(device)
    return {key: [0.1] * epochs for key in ("loss/train", "loss/validation", "accuracy/validation")}
""",
}
