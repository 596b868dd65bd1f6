"""Write an empty file and keep the whole run in a variable: nothing survives the process, and the last line looks right.

A checkpoint is for another process. Values alone cannot tell as long as one process saves and loads.
"""

ENTRY, FAMILY, ASSIGNMENT = 67, "E", "a6_cuda_training"
EXPECTED = {"test_checkpoint": "failed"}
CELLS = {
    "checkpoint": """
import copy

kept = {}


def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    parts = (model, optimizer, scheduler, scaler)
    states = [None if part is None else copy.deepcopy(part.state_dict()) for part in parts]
    kept.update(states=states, epoch=epoch, random=torch.get_rng_state())
    torch.save({}, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    for part, state in zip((model, optimizer, scheduler, scaler), kept["states"]):
        if part is not None:
            part.load_state_dict(copy.deepcopy(state))
    torch.set_rng_state(kept["random"])
    return kept["epoch"]
""",
}
