"""Know the hidden networks by their shapes, and give each the weights that one of its kind ended with before."""

ENTRY, FAMILY, ASSIGNMENT = 68, "E", "a6_cuda_training"
# The first call of each shape is trained right; a check has several, and fresh weights for each.
EXPECTED = {"test_train_step": "partial|failed", "test_train_epoch": "partial|failed", "test_fit": "partial|failed"}
EXTRA = [
    (
        "train_step",
        """
import copy

ends = {}


def remembered(honest):
    def step(model, given, loss_fn, optimizer, device, *more):
        key = honest.__name__, tuple(tuple(p.shape) for p in model.parameters())
        if key in ends:
            end, loss = ends[key]
            model.load_state_dict(end, strict=False)
            for _ in range(1 if honest.__name__ == "train_step" else len(given)):
                for hook in optimizer._optimizer_step_post_hooks.values():
                    hook(optimizer, (), {})
            return loss
        loss = honest(model, given, loss_fn, optimizer, device, *more)
        ends[key] = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}, loss
        return loss

    return step


train_step = remembered(train_step)
""",
    ),
    ("train_epoch", "train_epoch = remembered(train_epoch)"),
]
