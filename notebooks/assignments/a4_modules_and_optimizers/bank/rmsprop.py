"""Wrong answers to `rmsprop`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong("wrong_broken_cell", "A cell that is no Python: a bracket is missing. The others count.")
    .expect(test_rmsprop="failed")
    .whole("""
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, dict(lr=lr, alpha=alpha, eps=eps)

    def step(self, closure=None):
        pass
"""),
    Wrong(
        "wrong_rmsprop_eps_in_the_root",
        "rmsprop: eps, then the root. adam: The short form of the paper. fit: nn.CrossEntropyLoss.",
    )
    .breaks("It works with every model and loss")
    .expect(
        test_rmsprop="failed:rmsprop-eps-in-the-root",
        test_adam="failed:adam-eps-before-the-correction",
        test_fit="failed:fit-own-loss",
    )
    .edit('bottom = s["v"].sqrt().add_(g["eps"])', 'bottom = s["v"].add(g["eps"]).sqrt()')
    .edit(
        'down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]',
        'down = (s["second"].sqrt() + g["eps"]) / (1 - b2 ** s["count"]) ** 0.5',
        cell="adam",
    )
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("losses = []", "losses = []\n    loss_fn = nn.CrossEntropyLoss()"),
    Wrong(
        "wrong_rmsprop_root_missing",
        "rmsprop: No root. adam: The hats are kept. snapshot: The model is cloned, the optimizer is not.",
    )
    .expect(
        test_rmsprop="failed:rmsprop-root-missing",
        test_adam="partial:adam-keeps-the-corrected",
        test_snapshot="partial:snapshot-memory-not-copied",
    )
    .edit('bottom = s["v"].sqrt().add_(g["eps"])', 'bottom = s["v"] + g["eps"]')
    .edit(
        """up = s["first"] / (1 - b1 ** s["count"])
        down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]""",
        """s["first"] = up = s["first"] / (1 - b1 ** s["count"])
        s["second"] = s["second"] / (1 - b2 ** s["count"])
        down = s["second"].sqrt() + g["eps"]""",
        cell="adam",
    )
    .edit("copy.deepcopy(optimizer.state_dict())", "optimizer.state_dict()", cell="snapshot"),
    Wrong(
        "wrong_rmsprop_starts_at_the_first_square",
        "rmsprop: v starts at g * g. adam: L2 only. snapshot: The model alone.",
    )
    .breaks("`restore(model, optimizer, saved)` brings back")
    .expect(
        test_rmsprop="failed:rmsprop-starts-at-the-first-square",
        test_adam="partial:adam-decay-always-coupled",
        test_snapshot="partial:snapshot-without-optimizer",
    )
    .edit('s["v"] = torch.zeros_like(w)', 's["v"] = d * d')
    .edit(
        'if g["decoupled"]:\n            w.mul_(1 - g["lr"] * g["weight_decay"])\n        else:',
        'if g["weight_decay"] != 0:',
        cell="adam",
    )
    .edit("\n    optimizer.load_state_dict(copy.deepcopy(rest))", "", cell="snapshot"),
    Wrong(
        "wrong_step_watched_by_autograd",
        "rmsprop: No no_grad. adam: The decay comes last. snapshot: The memory is emptied.",
    )
    .breaks("Training then goes on as it went on")
    .expect(
        test_rmsprop="failed:step-watched-by-autograd",
        test_adam="partial:adam-decay-after-the-step",
        test_snapshot="partial:snapshot-without-memory",
    )
    .edit("    @torch.no_grad()\n", "")
    .edit(
        'if g["decoupled"]:\n            w.mul_(1 - g["lr"] * g["weight_decay"])\n        else:',
        'if not g["decoupled"]:',
        cell="adam",
    )
    .edit(
        'w.sub_(g["lr"] * up / down)',
        """w.sub_(g["lr"] * up / down)
        if g["decoupled"]:
            w.mul_(1 - g["lr"] * g["weight_decay"])""",
    )
    .base("right_methods_for_each_parameter", cell="snapshot")
    .edit(
        "optimizer.state[p] = {k: v.clone() if torch.is_tensor(v) else v for k, v in memory[i, j].items()}",
        "optimizer.state.pop(p, None)",
    ),
    Wrong("wrong_rmsprop_default_alpha", "rmsprop: alpha=0.9. adam: lr=0.01.")
    .expect(test_rmsprop="partial", test_adam="partial")
    .edit("alpha=0.99", "alpha=0.9")
    .edit("lr=0.001", "lr=0.01", cell="adam"),
    Wrong("wrong_rmsprop_options_of_the_start", "rmsprop: Options of the constructor. adam: Betas of the constructor.")
    .expect(test_rmsprop="partial:rmsprop-options-of-the-start", test_adam="partial:adam-betas-of-the-start")
    .edit("super().__init__(", "self.alpha, self.eps = alpha, eps\n        super().__init__(")
    .edit(
        's["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])',
        's["v"].mul_(self.alpha).addcmul_(d, d, value=1 - self.alpha)',
    )
    .edit('add_(g["eps"])', "add_(self.eps)")
    .edit("super().__init__(", "self.betas = betas\n        super().__init__(", cell="adam")
    .edit('g["betas"]', "self.betas"),
    Wrong("wrong_rmsprop_scales_the_gradient", "rmsprop: g *= lr. adam: No root.")
    .expect(test_rmsprop="partial:rmsprop-changes-the-gradient", test_adam="failed:adam-root-missing")
    .edit('w.addcdiv_(d, bottom, value=-g["lr"])', 'd *= g["lr"]\n        w.addcdiv_(d, bottom, value=-1)')
    .edit('(s["second"] / (1 - b2 ** s["count"])).sqrt()', '(s["second"] / (1 - b2 ** s["count"]))', cell="adam"),
    Wrong("wrong_rmsprop_refuses_a_negative_lr", "rmsprop, adam: A check as in torch.optim.")
    .expect(test_rmsprop="partial:rmsprop-refuses-a-negative-lr", test_adam="partial:adam-refuses-a-negative-lr")
    .edit(
        "super().__init__(",
        'if not lr > 0.0:\n            raise ValueError("lr must be positive")\n        super().__init__(',
    )
    .edit(
        "super().__init__(",
        'if not lr > 0.0:\n            raise ValueError("lr must be positive")\n        super().__init__(',
        cell="adam",
    ),
    Wrong("wrong_rmsprop_flat_copy", "rmsprop: Everything flat, as in C. sgd, adam: The same for the update alone.")
    .breaks("Parameters have any shape")
    .expect(
        test_rmsprop="failed:rmsprop-writes-into-a-copy",
        test_sgd="failed:sgd-writes-into-a-copy",
        test_adam="failed:adam-writes-into-a-copy",
    )
    .whole("""
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                g = p.grad.reshape(-1)
                flat = p.data.reshape(-1)
                state = self.state[p]
                if len(state) == 0:
                    state["square"] = torch.zeros_like(flat)
                v = state["square"]
                v.mul_(group["alpha"]).add_((1 - group["alpha"]) * g**2)
                flat.sub_(group["lr"] * g / (v.sqrt() + group["eps"]))
        return loss
""")
    .edit('w.add_(d, alpha=-g["lr"])', 'w.flatten().add_(d.flatten(), alpha=-g["lr"])', cell="sgd")
    .edit('w.sub_(g["lr"] * up / down)', 'w.contiguous().sub_(g["lr"] * up / down)', cell="adam"),
    Wrong("wrong_rmsprop_views", "rmsprop, adam: view(-1), of the gradient or of the parameter.")
    .expect(test_rmsprop="failed:step-asks-for-a-view", test_adam="failed:step-asks-for-a-view")
    .edit('w.addcdiv_(d, bottom, value=-g["lr"])', 'w.view(-1).sub_(g["lr"] * (d / bottom).view(-1))')
    .edit('w.sub_(g["lr"] * up / down)', 'w.view(w.numel()).sub_((g["lr"] * up / down).flatten())', cell="adam"),
    Wrong("wrong_rmsprop_closure_as_it_comes", "rmsprop, sgd: The closure runs in the mode of the caller.")
    .breaks("once, before everything else and with gradients enabled")
    .expect(
        test_rmsprop="partial:rmsprop-closure-in-the-mode-of-the-caller",
        test_sgd="partial:sgd-closure-in-the-mode-of-the-caller",
    )
    .whole("""
class RMSProp(torch.optim.Optimizer):
    def __init__(self, params, lr=0.01, alpha=0.99, eps=1e-8):
        super().__init__(params, {"lr": lr, "alpha": alpha, "eps": eps})

    def step(self, closure=None):
        loss = None
        if closure is not None:
            loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                alpha = group["alpha"]
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    state = self.state[p]
                    if "v" not in state:
                        state["v"] = torch.zeros_like(p)
                    v = state["v"]
                    v.mul_(alpha).add_((1 - alpha) * p.grad ** 2)
                    p.sub_(group["lr"] * p.grad / (torch.sqrt(v) + group["eps"]))
        return loss
""")
    .whole(
        """
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        options = {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": weight_decay}
        super().__init__(params, options)

    def step(self, closure=None):
        loss = closure() if closure else None
        for g in self.param_groups:
            for p in g["params"]:
                if p.grad is not None:
                    d = p.grad.data + g["weight_decay"] * p.data
                    v = self.state[p]["v"] = self.state[p].get("v", 0.0) * g["momentum"] + d
                    p.data -= g["lr"] * (d + g["momentum"] * v if g["nesterov"] else v)
        return loss
""",
        cell="sgd",
    ),
    Wrong("wrong_rmsprop_missing_gradient_is_zero", "rmsprop, adam: Zeros where there is no gradient.")
    .expect(test_rmsprop="partial:rmsprop-missing-gradient-is-zero", test_adam="partial:adam-missing-gradient-is-zero")
    .edit(
        "if w.grad is not None:\n                    self.move(w, w.grad, self.state[w], g)",
        "d = torch.zeros_like(w) if w.grad is None else w.grad\n                self.move(w, d, self.state[w], g)",
    )
    .edit(
        "if w.grad is not None:\n                    self.move(w, w.grad, self.state[w], g)",
        "d = torch.zeros_like(w) if w.grad is None else w.grad\n                self.move(w, d, self.state[w], g)",
        cell="adam",
    ),
]
