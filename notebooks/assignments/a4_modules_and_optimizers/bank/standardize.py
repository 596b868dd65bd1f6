"""Wrong answers to `standardize`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong("wrong_half_done", "Three exercises are left open, one is begun.")
    .expect(
        test_adam="not attempted", test_snapshot="not attempted", test_fit="not attempted", test_standardize="failed"
    )
    .whole('''
class Standardize(nn.Module):
    """Columns of mean 0 and variance 1: by the batch in training, by running statistics in evaluation."""

    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps

    def forward(self, x):
        """x: (N, features). Returns (N, features)."""
        # YOUR CODE HERE
        raise NotImplementedError()
''')
    .base("stub", cell="adam")
    .base("stub", cell="snapshot")
    .base("stub", cell="fit"),
    Wrong(
        "wrong_standardize_eps_outside",
        "standardize: eps is added to the deviation. parallel_block: hstack joins along axis 1. "
        "sgd: nesterov is not looked at.",
    )
    .breaks("`x` has one axis or more")
    .expect(
        test_standardize="partial:standardize-eps-outside",
        test_parallel_block="partial:block-joined-along-axis-1",
        test_sgd="partial:sgd-nesterov-always",
    )
    .edit(
        "return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5",
        "return (x - self.running_mean) / (self.running_var**0.5 + self.eps)",
    )
    .edit("return centered * (sigma2 + self.eps) ** -0.5", "return centered / (sigma2**0.5 + self.eps)")
    .edit("return torch.cat(results, -1)", "return torch.cat(results, axis=1)", cell="parallel_block")
    .edit(
        """if g["nesterov"]:
                d = d.add(s["buf"], alpha=mu)
            else:
                d = s["buf"]""",
        'd = d.add(s["buf"], alpha=mu)',
        cell="sgd",
    ),
    Wrong(
        "wrong_standardize_keeps_deviation",
        "standardize: The deviation is stored. parallel_block: clones of all branches. "
        "sgd: The first velocity is not a copy.",
    )
    .breaks("makes no copies", "Somebody may write new numbers into")
    .expect(
        test_standardize="partial:standardize-keeps-deviation",
        test_parallel_block="failed:block-copies",
        test_sgd="partial:sgd-velocity-is-the-gradient",
    )
    .edit("sigma2.detach()", "sigma2.detach() ** 0.5")
    .edit("self.branches.append(branch)", "self.branches.append(copy.deepcopy(branch))", cell="parallel_block")
    .edit('s["buf"] = torch.clone(d)', 's["buf"] = d', cell="sgd"),
    Wrong(
        "wrong_standardize_learns_in_evaluation",
        "standardize: The update is made in both modes. parallel_block: The mode is stored under another name. "
        "sgd: Minus.",
    )
    .expect(
        test_standardize="partial:standardize-learns-in-evaluation",
        test_parallel_block="failed:block-mode-ignored",
        test_sgd="failed:sgd-decay-grows",
    )
    .edit(
        """if not self.training:
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5""",
        "old_mean, old_var = self.running_mean, self.running_var",
    )
    .edit(
        "self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()",
        """self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()
        if not self.training:
            return (x - old_mean) / (old_var + self.eps).sqrt()""",
    )
    .edit('if self.mode == "cat":', 'if self.mode == "concat":', cell="parallel_block")
    .edit('d = d.add(w, alpha=g["weight_decay"])', 'd = d.sub(w, alpha=g["weight_decay"])', cell="sgd"),
    Wrong(
        "wrong_standardize_running_n_minus_one",
        "standardize: As BatchNorm does it. parallel_block: nn.Sequential does the work. sgd: The velocity is a step.",
    )
    .expect(
        test_standardize="partial:standardize-running-n-minus-one",
        test_parallel_block="failed:block-in-series",
        test_sgd="partial:sgd-rate-in-velocity",
    )
    .edit("sigma2.detach()", "sigma2.detach() * len(x) / (len(x) - 1)")
    .edit("        results = []\n", "", cell="parallel_block")
    .edit("results.append(branch(x))", "x = branch(x)\n        results = [x]")
    .edit('s["buf"] = torch.clone(d)', 's["buf"] = g["lr"] * d', cell="sgd")
    .edit('s["buf"].mul_(mu).add_(d)', 's["buf"].mul_(mu).add_(d, alpha=g["lr"])')
    .edit('d = d.add(s["buf"], alpha=mu)', 'd = (g["lr"] * d).add(s["buf"], alpha=mu)')
    .edit('w.add_(d, alpha=-g["lr"])', 'w.sub_(d if mu else g["lr"] * d)'),
    Wrong(
        "wrong_standardize_counts_batches", "standardize: A counter, as BatchNorm has. sgd: Closures are called twice."
    )
    .breaks("are the only entries of `state_dict()`")
    .expect(test_standardize="partial", test_sgd="partial")
    .edit(
        "self.m, self.eps = momentum, eps",
        """self.m, self.eps = momentum, eps
        self.register_buffer("batches", torch.tensor(0))""",
    )
    .edit("result = closure()", "closure()\n                result = closure()", cell="sgd"),
    Wrong("wrong_standardize_half_statistics", "standardize: Statistics in half precision. sgd: A number is returned.")
    .breaks("`.double()` converts the buffers", "returns the very object")
    .expect(test_standardize="partial", test_sgd="partial")
    .edit("self.m * mu.detach()", "self.m * mu.detach()\n        self.running_mean = self.running_mean.half().float()")
    .edit(
        "self.m * sigma2.detach()",
        "self.m * sigma2.detach()\n        self.running_var = self.running_var.half().float()",
    )
    .edit("result = closure()", "result = closure().item()", cell="sgd"),
    Wrong(
        "wrong_standardize_not_saved", "standardize: Buffers that are not saved. sgd: zero_grad at the end of a step."
    )
    .breaks("are the only entries of `state_dict()`", "It does not change any `p.grad`")
    .expect(test_standardize="partial:standardize-not-saved", test_sgd="partial:sgd-clears-gradients")
    .edit("torch.full((features,), 0.0))", "torch.full((features,), 0.0), persistent=False)")
    .edit("torch.full((features,), 1.0))", "torch.full((features,), 1.0), persistent=False)")
    .edit("return result", "self.zero_grad()\n        return result", cell="sgd"),
    Wrong("wrong_standardize_overwritten", "standardize: Divides in place. rmsprop: zero_grad at the end of a step.")
    .breaks("autograd does this by itself if you let it")
    .expect(test_standardize="partial:standardize-overwritten", test_rmsprop="partial:rmsprop-clears-gradients")
    .edit("return centered * (sigma2 + self.eps) ** -0.5", "return centered.div_((sigma2 + self.eps).sqrt())")
    .edit(
        "return result",
        """for w in sum([g["params"] for g in self.param_groups], []):
            w.grad = None
        return result""",
        cell="rmsprop",
    ),
    Wrong("wrong_standardize_learns_a_scale", "standardize: A trained scale, which is another exercise.")
    .breaks("The module has no parameters")
    .expect(test_standardize="partial")
    .edit(
        "self.m, self.eps = momentum, eps",
        "self.m, self.eps = momentum, eps\n        self.gamma = nn.Parameter(torch.ones(features))",
    ),
    Wrong("wrong_standardize_variance_starts_at_zero", "standardize: Two zeros. parallel_block: A set of modules.")
    .breaks("They start at 0 and at 1", "works twice")
    .expect(
        test_standardize="partial:standardize-variance-starts-at-zero",
        test_parallel_block="partial:block-drops-a-repeated-branch",
    )
    .edit("torch.full((features,), 1.0)", "torch.full((features,), 0.0)")
    .edit("for branch in self.branches:", "for branch in self.branches.children():", cell="parallel_block"),
    Wrong("wrong_standardize_still_without_gradients", "Under no_grad the running statistics stay as they are.")
    .breaks("with gradients or without, moves each of them")
    .expect(test_standardize="partial:standardize-still-without-gradients")
    .whole("""
class Standardize(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum, self.eps = momentum, eps
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            if torch.is_grad_enabled():
                self.running_mean.lerp_(mean.detach(), self.momentum)
                self.running_var.lerp_(var.detach(), self.momentum)
        return (x - mean) / (var + self.eps).sqrt()
"""),
    Wrong(
        "wrong_standardize_asks_for_gradients",
        "standardize: An early return under no_grad. adam: The closure runs in the mode of the caller.",
    )
    .breaks("with gradients or without, moves each of them")
    .expect(
        test_standardize="partial:standardize-still-without-gradients",
        test_adam="partial:adam-closure-in-the-mode-of-the-caller",
    )
    .edit(
        "self.running_mean = (1 - self.m)",
        "if not torch.is_grad_enabled():\n            return centered * (sigma2 + self.eps) ** -0.5\n"
        "        self.running_mean = (1 - self.m)",
    )
    .edit(
        "    @torch.no_grad()\n    def step(self, closure=None):",
        "    def step(self, closure=None):\n        return self.update(None if closure is None else closure())\n\n"
        "    @torch.no_grad()\n    def update(self, result):",
        cell="adam",
    )
    .edit(
        "        result = None\n        if closure is not None:\n            with torch.enable_grad():\n"
        "                result = closure()\n",
        "",
    ),
    Wrong("wrong_standardize_two", "Two mistakes: running_var as in BatchNorm, and eps after the root.")
    .expect(test_standardize="failed:standardize-running-n-minus-one+standardize-eps-outside")
    .whole("""
class Standardize(nn.Module):
    def __init__(self, features, momentum=0.1, eps=1e-5):
        super().__init__()
        self.momentum = momentum
        self.eps = eps
        self.register_buffer("running_mean", torch.zeros(features))
        self.register_buffer("running_var", torch.ones(features))

    def forward(self, x):
        if self.training:
            mean = x.mean(dim=0)
            var = ((x - mean) ** 2).mean(dim=0)
            with torch.no_grad():
                self.running_mean.mul_(1 - self.momentum).add_(self.momentum * mean)
                self.running_var.mul_(1 - self.momentum).add_(self.momentum * x.var(dim=0))
        else:
            mean = self.running_mean
            var = self.running_var
        return (x - mean) / (torch.sqrt(var) + self.eps)
"""),
]
