"""The random state is loaded onto the device, and set from there."""

EXPECTED = {"test_checkpoint": "partial:checkpoint-random-state-on-the-device"}
KIND = "fault"
CELLS = {
    "checkpoint": """
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    states = {name: part.state_dict() for name, part in parts.items() if part is not None}
    torch.save({"states": states, "epoch": epoch, "cpu generator": torch.get_rng_state()}, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    saved = torch.load(path, map_location=torch.device(device))
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "scaler": scaler}
    for name, part in parts.items():
        if part is not None:
            part.load_state_dict(saved["states"][name])
    torch.set_rng_state(saved["cpu generator"])
    return saved["epoch"]
""",
}
