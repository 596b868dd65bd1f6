"""eval after loading."""

EXPECTED = {"test_checkpoint": "partial:checkpoint-loading-changes-the-mode"}
KIND = "fault"
CELLS = {
    "checkpoint": """
def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    state = {"epoch": epoch, "rng": torch.random.get_rng_state()}
    state["model"] = model.state_dict()
    state["optimizer"] = optimizer.state_dict()
    if scheduler is not None:
        state["scheduler"] = scheduler.state_dict()
    if scaler is not None:
        state["scaler"] = scaler.state_dict()
    torch.save(state, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    state = torch.load(path, map_location="cpu")
    torch.random.set_rng_state(state["rng"])
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])
    if scheduler is not None:
        scheduler.load_state_dict(state["scheduler"])
    if scaler is not None:
        scaler.load_state_dict(state["scaler"])
    model.train(False)
    return state["epoch"]
""",
}
