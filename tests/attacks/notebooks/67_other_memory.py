"""Right answers out of memory, not out of work."""

from tests.attacks.corpus import variant

# A checkpoint is for another process. Values alone cannot tell as long as one process saves and loads.
checkpoint_in_memory = variant(
    "Write an empty file and keep the whole run in a variable: nothing survives the process, and the last line looks right.",
    checkpoint="""
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
    return kept["epoch"]""",
)

# The first journey is made in the student's process before the second, so the right answers are there to be repeated.
replayed_journey = variant(
    "Take no snapshot and restore nothing: repeat the states that the first journey showed, from a patched `state_of`.",
    snapshot="""
from course_lib.checks import a4_modules_and_optimizers as helpers
looked = helpers.state_of
diary = []
place = None
def state_of(model):
    global place
    if place is None or place >= len(diary):
        place = None
        diary.append(looked(model))
        return diary[-1]
    place += 1
    return diary[place - 1]

def snapshot(model, optimizer):
    global place
    place = None
    diary.clear()
    return {}

def restore(model, optimizer, saved):
    global place
    place = 0
helpers.state_of = state_of""",
    assignment="a4_modules_and_optimizers",
)

stale_memory = variant(
    "Return memory that nobody has written, and tensors found by the garbage collector, in the hope of right answers.",
    manual_gradients="""
import gc
def found(shape, dtype):
    shape = tuple(shape)
    for thing in reversed(gc.get_objects()):
        if type(thing) is torch.Tensor and tuple(thing.shape) == shape and thing.dtype == dtype:
            return thing
    return torch.empty(shape, dtype=dtype)

def manual_gradients(x, w, b):
    torch.full_like(x, float("nan"))
    return found((), x.dtype), *(torch.empty(v.shape, dtype=v.dtype) for v in (x, w, b))""",
    jacobian="""
def vjp(f, x, v):
    y = f(x).detach()
    return y, found(x.shape, x.dtype).detach()

def jacobian(f, x):
    y = f(x)
    del y
    return torch.empty(*f(x).shape, *x.shape, dtype=x.dtype)""",
    assignment="a3_pytorch_autograd",
)

stolen_from_the_probe = variant(
    "Save nothing. What the uninterrupted run reached is in the probe's own frame, and is handed out for the resumed one.",
    checkpoint="""
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
training.parameters, training.buffers = parameters, buffers""",
)
