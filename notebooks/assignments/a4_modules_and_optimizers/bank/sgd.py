"""Wrong answers to `sgd`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong("wrong_sgd_decay_ignored", "sgd: An option without use. rmsprop: Adagrad. adam: The wrong way round.")
    .expect(
        test_sgd="failed:sgd-decay-ignored",
        test_rmsprop="failed:rmsprop-squares-summed",
        test_adam="partial:adam-decay-kinds-swapped",
    )
    .edit('        if g["weight_decay"]:\n            d = d.add(w, alpha=g["weight_decay"])\n', "")
    .edit('s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])', 's["v"].add_(d.square())', cell="rmsprop")
    .edit('if g["decoupled"]:', 'if g["decoupled"] is False:', cell="adam"),
    Wrong(
        "wrong_sgd_decay_written_into_grad",
        "sgd: += on the gradient. rmsprop: The norm of the tensor. adam: lr is forgotten.",
    )
    .breaks("It does not change any `p.grad`")
    .expect(
        test_sgd="partial:sgd-decay-written-into-grad",
        test_rmsprop="failed:rmsprop-one-size-for-all",
        test_adam="partial:adam-decay-without-rate",
    )
    .edit('d = d.add(w, alpha=g["weight_decay"])', 'd += g["weight_decay"] * w')
    .edit(
        's["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])',
        's["v"].mul_(g["alpha"]).add_((d.norm() ** 2 / d.numel()) * (1 - g["alpha"]))',
        cell="rmsprop",
    )
    .edit('w.mul_(1 - g["lr"] * g["weight_decay"])', 'w.mul_(1 - g["weight_decay"])', cell="adam"),
    Wrong(
        "wrong_sgd_nesterov_without_effect",
        "sgd: Nesterov with the old velocity. rmsprop: No eps. adam: The square of the mean.",
    )
    .expect(
        test_sgd="failed:sgd-nesterov-without-effect",
        test_rmsprop="failed:rmsprop-eps-missing",
        test_adam="failed:adam-square-of-m",
    )
    .edit("if mu:", 'if mu:\n            old = s["buf"].clone() if "buf" in s else torch.zeros_like(w)')
    .edit('d = d.add(s["buf"], alpha=mu)', "d = d.add(old, alpha=mu)")
    .edit('bottom = s["v"].sqrt().add_(g["eps"])', 'bottom = s["v"].sqrt()', cell="rmsprop")
    .edit(
        's["second"].mul_(b2).addcmul_(d, d, value=1 - b2)',
        's["second"].mul_(b2).addcmul_(s["first"], s["first"], value=1 - b2)',
        cell="adam",
    ),
    Wrong(
        "wrong_sgd_velocity_forgotten",
        "sgd: The velocity is a local variable. rmsprop: The closure is for other optimizers. adam: b2, b1.",
    )
    .expect(
        test_sgd="failed:sgd-velocity-forgotten",
        test_rmsprop="partial:rmsprop-closure-ignored",
        test_adam="partial:adam-betas-swapped",
    )
    .edit("self.state[w]", "{}")
    .edit("with torch.enable_grad():\n                result = closure()", "pass", cell="rmsprop")
    .edit('b1, b2 = g["betas"]', 'b2, b1 = g["betas"]', cell="adam"),
    Wrong("wrong_sgd_flat_views", "sgd: view(-1). adam: One count for a group.")
    .breaks("Parameters have any shape")
    .expect(test_sgd="failed:step-asks-for-a-view", test_adam="partial:adam-count-of-the-group")
    .edit('w.add_(d, alpha=-g["lr"])', 'w.view(-1).add_(d.reshape(-1), alpha=-g["lr"])')
    .edit('for w in g["params"]:', 'g["t"] = g.get("t", 0) + 1\n            for w in g["params"]:', cell="adam")
    .edit('s["count"] += 1', 's["count"] = g["t"]'),
    Wrong("wrong_sgd_changes_the_gradient", "sgd: The velocity is added into p.grad. adam: Decay both ways.")
    .breaks("It does not change any `p.grad`")
    .expect(test_sgd="failed:sgd-changes-the-gradient", test_adam="partial:adam-decay-both-ways")
    .edit('s["buf"].mul_(mu).add_(d)', 's["buf"] = d.add_(s["buf"], alpha=mu).clone()')
    .edit(
        '        else:\n            d = d + w * g["weight_decay"]', '        d = d + w * g["weight_decay"]', cell="adam"
    ),
    Wrong("wrong_sgd_returns_zero", "sgd: 0.0 where there is no closure. rmsprop: alpha of the start.")
    .breaks("Without a closure the step returns `None`")
    .expect(test_sgd="partial", test_rmsprop="partial:rmsprop-alpha-of-the-start")
    .edit("result = None", "result = 0.0")
    .edit(
        's["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])',
        'a = self.defaults["alpha"]\n        s["v"].mul_(a).addcmul_(d, d, value=1 - a)',
        cell="rmsprop",
    ),
    Wrong("wrong_sgd_nesterov_attribute", "nesterov is kept as an attribute, all else in the groups.")
    .breaks("A group may have its own value of every option")
    .expect(test_sgd="partial:sgd-nesterov-of-the-start")
    .edit(
        "super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))",
        "super().__init__(params, dict(lr=lr, momentum=momentum, weight_decay=weight_decay))\n"
        "        self.nesterov = nesterov",
    )
    .edit('if g["nesterov"]:', "if self.nesterov:"),
    Wrong("wrong_sgd_momentum_and_decay_attributes", "lr and nesterov alone are read from the groups.")
    .breaks("A group may have its own value of every option")
    .expect(test_sgd="partial:sgd-momentum-and-decay-of-the-start")
    .whole("""
class SGD(torch.optim.Optimizer):
    def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        defaults = {"lr": lr, "momentum": momentum, "nesterov": nesterov, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        self.momentum = momentum
        self.weight_decay = weight_decay

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is None:
                        continue
                    g = p.grad + self.weight_decay * p
                    state = self.state[p]
                    if "velocity" not in state:
                        state["velocity"] = torch.zeros_like(p)
                    v = state["velocity"]
                    v.mul_(self.momentum).add_(g)
                    if group["nesterov"]:
                        direction = g + self.momentum * v
                    else:
                        direction = v
                    p.sub_(group["lr"] * direction)
        return loss
"""),
    Wrong("wrong_sgd_momentum_attribute", "sgd: momentum of the constructor. fit: The first group of parameters.")
    .breaks("A group may have its own value of every option", "of all parameters of the model together")
    .expect(test_sgd="partial:sgd-momentum-of-the-start", test_fit="partial:fit-clips-the-first-group")
    .edit('mu = g["momentum"]', 'mu = self.defaults["momentum"]')
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("list(model.parameters())", 'optimizer.param_groups[0]["params"]'),
    Wrong("wrong_sgd_decay_attribute", "sgd: weight_decay of the constructor. fit: The first group is scaled by hand.")
    .breaks("A group may have its own value of every option", "of all parameters of the model together")
    .expect(test_sgd="partial:sgd-decay-of-the-start", test_fit="partial:fit-clips-the-first-group")
    .edit("super().__init__(params", "self.decay = weight_decay\n        super().__init__(params")
    .edit(
        'if g["weight_decay"]:\n            d = d.add(w, alpha=g["weight_decay"])',
        "d = d.add(w, alpha=self.decay)",
    )
    .base("right_methods_for_each_parameter", cell="fit")
    .edit(
        "nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)",
        """first = [p.grad for p in optimizer.param_groups[0]["params"]]
                    norm = sum(d.square().sum() for d in first).sqrt()
                    for d in first:
                        d *= (max_norm / norm).clamp(max=1)""",
    ),
    Wrong("wrong_sgd_first_step_plain", "sgd: nesterov begins with the second step. affine: weight.data.")
    .expect(test_sgd="failed:sgd-nesterov-from-the-second-step", test_affine="partial:affine-weight-without-gradient")
    .edit(
        's["buf"] = torch.clone(d)\n            else:',
        's["buf"] = torch.clone(d)\n                w.add_(d, alpha=-g["lr"])\n                return\n'
        "            else:",
    )
    .edit("self.weight.t()", "self.weight.data.t()", cell="affine"),
    Wrong("wrong_sgd_options_but_lr_of_the_start", "sgd, adam: Attributes, with lr alone in the groups.")
    .breaks("A group may have its own value of every option")
    .expect(test_sgd="partial:sgd-options-but-lr-of-the-start", test_adam="partial:adam-options-of-the-start")
    .edit(
        "super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))",
        "super().__init__(params, dict(lr=lr))\n"
        "        self.options = dict(momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)",
    )
    .edit("self.move(w, w.grad, self.state[w], g)", "self.move(w, w.grad, self.state[w], {**g, **self.options})")
    .edit(
        "super().__init__(params, dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay, decoupled=decoupled))",
        "super().__init__(params, dict(lr=lr))\n"
        "        self.options = dict(betas=betas, eps=eps, weight_decay=weight_decay, decoupled=decoupled)",
        cell="adam",
    )
    .edit("self.move(w, w.grad, self.state[w], g)", "self.move(w, w.grad, self.state[w], {**g, **self.options})"),
    Wrong("wrong_sgd_skips_zero_gradients", "sgd, rmsprop, adam: Gradients of zeros count as no gradients.")
    .breaks("A parameter whose `grad` is `None` is left out")
    .expect(
        test_sgd="partial:sgd-skips-zero-gradients",
        test_rmsprop="partial:rmsprop-skips-zero-gradients",
        test_adam="partial:adam-skips-zero-gradients",
    )
    .edit("if w.grad is not None:", "if w.grad is not None and w.grad.count_nonzero():")
    .edit("if w.grad is not None:", "if w.grad is not None and w.grad.count_nonzero():", cell="rmsprop")
    .edit("if w.grad is not None:", "if w.grad is not None and w.grad.count_nonzero():", cell="adam"),
]
