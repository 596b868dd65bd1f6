"""Save nothing. What the uninterrupted run reached is in the probe's own frame, and is handed out for the resumed one."""

ENTRY, FAMILY, ASSIGNMENT = 67, "E", "a6_cuda_training"
EXPECTED = {"test_checkpoint": "failed"}
CELLS = {
    "checkpoint": """
import sys

from course_lib.checks import training

honest_parameters, honest_buffers = training.parameters, training.buffers
answers = {}


def save_checkpoint(path, model, optimizer, scheduler, scaler, epoch):
    answers.clear()
    answers.update(epoch=epoch, scheduler=scheduler, scaler=scaler)
    torch.save({}, path)


def load_checkpoint(path, model, optimizer, scheduler, scaler, device):
    frame = sys._getframe(1)
    if "run" in frame.f_locals and "trained" in frame.f_locals:
        right = frame.f_locals["run"][0]
        model.register_forward_hook(lambda *_: answers.update(model=right, late=model))
    else:
        answers["weights"] = frame.f_locals["weights"]
        answers["late"] = model
    return answers["epoch"]


def parameters(model):
    if model is answers.get("late"):
        return answers["weights"] if "weights" in answers else honest_parameters(answers["model"])
    return honest_parameters(model)


def buffers(model):
    return honest_buffers(answers["model"] if model is answers.get("late") and "model" in answers else model)


training.parameters, training.buffers = parameters, buffers
""",
}
