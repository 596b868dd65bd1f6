"""Wrong answers to `fit`."""

from autograder.bank import Wrong

BASE = "right_groups_as_slices"

WRONG = [
    Wrong(
        "wrong_fit_always_scaled_to_the_norm",
        "fit: Normalized. sgd: The closure comes last. rmsprop: self.param_groups[0].",
    )
    .expect(
        test_fit="partial:fit-always-scaled-to-the-norm",
        test_sgd="partial:sgd-closure-too-late",
        test_rmsprop="partial:rmsprop-first-group-only",
    )
    .edit("if norm > max_norm:", "if norm > 0:")
    .edit(
        """        if closure is not None:
            with torch.enable_grad():
                result = closure()
""",
        "",
        cell="sgd",
    )
    .edit(
        "self.move(w, w.grad, self.state[w], g)",
        """self.move(w, w.grad, self.state[w], g)
        if closure is not None:
            with torch.enable_grad():
                result = closure()""",
    )
    .edit("self.param_groups:", "self.param_groups[:1]:", cell="rmsprop"),
    Wrong("wrong_fit_batches_count_alike", "fit: The mean of means. sgd: The return stands for nothing. adam: No hats.")
    .expect(
        test_fit="partial:fit-batches-count-alike",
        test_sgd="partial:sgd-loss-not-returned",
        test_adam="failed:adam-no-correction",
    )
    .edit("out * (x.size(0) / rows)", "out / len(part)")
    .edit("        return result\n", "", cell="sgd")
    .edit('up = s["first"] / (1 - b1 ** s["count"])', 'up = s["first"]', cell="adam")
    .edit('(s["second"] / (1 - b2 ** s["count"])).sqrt', 's["second"].sqrt'),
    Wrong(
        "wrong_fit_clips_after_the_step",
        "fit: No clipping. affine: super().__init__() is forgotten. "
        "standardize: The update comes first, then the running statistics are used.",
    )
    .breaks("the gradient is scaled down to that norm")
    .expect(
        test_fit="partial:fit-clips-after-the-step",
        test_affine="failed:module-not-initialized",
        test_standardize="partial:standardize-running-in-training",
    )
    .base("right_methods_for_each_parameter")
    .edit(
        """                if max_norm is not None:
                    nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)
""",
        "",
    )
    .edit("        super().__init__()\n", "", cell="affine")
    .edit(
        "return centered * (sigma2 + self.eps) ** -0.5",
        "return (x - self.running_mean) / (self.running_var + self.eps).sqrt()",
        cell="standardize",
    ),
    Wrong(
        "wrong_fit_clips_each_batch",
        "fit: Clipped after each backward. rmsprop: lr is kept as an attribute. adam: The count is raised at the end.",
    )
    .expect(
        test_fit="partial:fit-clips-each-batch",
        test_rmsprop="partial:rmsprop-rate-of-the-start",
        test_adam="failed:adam-counts-from-zero",
    )
    .edit(
        "(out * (x.size(0) / rows)).backward()",
        """(out * (x.size(0) / rows)).backward()
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)""",
    )
    .edit(
        """            if max_norm is not None:
                norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5
                if norm > max_norm:
                    for p in model.parameters():
                        p.grad = p.grad * (max_norm / norm)
""",
        "",
    )
    .edit("super().__init__(", "self.rate = lr\n        super().__init__(", cell="rmsprop")
    .edit('-g["lr"]', "-self.rate")
    .edit('        s["count"] += 1\n', "", cell="adam")
    .edit('w.sub_(g["lr"] * up / down)', 'w.sub_(g["lr"] * up / down)\n        s["count"] += 1'),
    Wrong(
        "wrong_fit_clips_each_parameter",
        "fit: The norm of each tensor. standardize: Only the update depends on the mode. "
        "sgd: The decorator holds for the closure too.",
    )
    .expect(
        test_fit="partial:fit-clips-each-parameter",
        test_standardize="partial:standardize-batch-in-evaluation",
        test_sgd="partial:closure-without-gradients",
    )
    .edit(
        """norm = sum((p.grad**2).sum() for p in model.parameters()) ** 0.5
                if norm > max_norm:
                    for p in model.parameters():
                        p.grad = p.grad * (max_norm / norm)""",
        """for p in model.parameters():
                    if p.grad.norm() > max_norm:
                        p.grad.mul_(max_norm / p.grad.norm())""",
    )
    .edit(
        """        if not self.training:
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5
""",
        "",
        cell="standardize",
    )
    .edit(
        """self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
        self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()""",
        """if self.training:
            self.running_mean = (1 - self.m) * self.running_mean + self.m * mu.detach()
            self.running_var = (1 - self.m) * self.running_var + self.m * sigma2.detach()""",
    )
    .edit("with torch.enable_grad():\n                result = closure()", "result = closure()", cell="sgd"),
    Wrong(
        "wrong_fit_clips_each_value",
        "fit: clamp on every gradient. rmsprop: A new tensor, and the old one stays. adam: The other hat.",
    )
    .expect(
        test_fit="partial:fit-clips-each-value",
        test_rmsprop="failed:rmsprop-parameter-rebound",
        test_adam="failed:adam-m-not-corrected",
    )
    .base("right_methods_for_each_parameter")
    .edit(
        "nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)",
        "for p in model.parameters():\n                        p.grad = p.grad.clamp(-max_norm, max_norm)",
    )
    .edit("w.addcdiv_", "w = w.addcdiv", cell="rmsprop")
    .edit('up = s["first"] / (1 - b1 ** s["count"])', 'up = s["first"].clone()', cell="adam"),
    Wrong(
        "wrong_fit_divided_by_accumulate",
        "fit: The usual recipe. standardize: Parameters that are frozen. sgd: No no_grad.",
    )
    .breaks("The module has no parameters")
    .expect(
        test_fit="partial:fit-divided-by-accumulate",
        test_standardize="partial:standardize-parameters",
        test_sgd="failed:step-watched-by-autograd",
    )
    .base("right_methods_for_each_parameter")
    .edit("loss.mul(n).backward()", "loss.backward()")
    .edit("p.grad /= waiting", "p.grad /= accumulate")
    .edit(
        'self.register_buffer("running_mean", torch.full((features,), 0.0))',
        "self.running_mean = nn.Parameter(torch.zeros(features), requires_grad=False)",
        cell="standardize",
    )
    .edit(
        'self.register_buffer("running_var", torch.full((features,), 1.0))',
        "self.running_var = nn.Parameter(torch.ones(features), requires_grad=False)",
    )
    .edit("self.running_mean = (1", "self.running_mean.data = (1")
    .edit("self.running_var = (1", "self.running_var.data = (1")
    .edit("    @torch.no_grad()\n", "", cell="sgd"),
    Wrong(
        "wrong_fit_first_group_only",
        "fit: break. affine: The weight lies the other way round. standardize: N - 1 in both places.",
    )
    .breaks("`weight` is an `nn.Parameter` of shape", "a division by `N`")
    .expect(
        test_fit="failed:fit-first-group-only",
        test_affine="failed:affine-weight-shape-swapped",
        test_standardize="failed:standardize-n-minus-one",
    )
    .edit("optimizer.step()", "optimizer.step()\n            break")
    .edit("torch.rand(out_features, in_features)", "torch.rand(in_features, out_features)", cell="affine")
    .edit("self.weight.t()", "self.weight")
    .edit(
        "sigma2 = (centered**2).sum(0) / x.shape[0]",
        "sigma2 = (centered**2).sum(0) / (x.shape[0] - 1)",
        cell="standardize",
    ),
    Wrong("wrong_fit_gradients_not_cleared", "fit: Nothing is ever cleared. adam: Plus. sgd: Plus.")
    .expect(test_fit="failed:fit-gradients-not-cleared", test_adam="failed:adam-uphill", test_sgd="failed:sgd-uphill")
    .edit("            model.zero_grad()\n", "")
    .edit('w.sub_(g["lr"] * up / down)', 'w.add_(g["lr"] * up / down)', cell="adam")
    .edit('-g["lr"]', 'g["lr"]', cell="sgd"),
    Wrong(
        "wrong_fit_history_mean_of_means",
        "fit: The mean of the list. affine: The layer is made when it is called for the first time, and every time. "
        "standardize: eps is stored and not used.",
    )
    .breaks("The result is a list with one Python `float`")
    .expect(
        test_fit="partial:fit-history-mean-of-means",
        test_affine="failed:affine-made-in-forward",
        test_standardize="partial:standardize-eps-missing",
    )
    .edit("sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes)", "sum(numbers) / len(numbers)")
    .whole(
        """
class Affine(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.n_in = in_features
        self.n_out = out_features
        self.with_bias = bias
        self.bias = None

    def forward(self, x):
        k = self.n_in**-0.5
        self.weight = nn.Parameter(torch.rand(self.n_out, self.n_in) * 2 * k - k)
        if self.with_bias:
            self.bias = nn.Parameter(torch.rand(self.n_out) * 2 * k - k)
            return x @ self.weight.t() + self.bias
        return x @ self.weight.t()
""",
        cell="affine",
    )
    .edit("(self.running_var + self.eps) ** -0.5", "self.running_var**-0.5", cell="standardize")
    .edit("(sigma2 + self.eps) ** -0.5", "sigma2**-0.5"),
    Wrong(
        "wrong_fit_history_not_reset",
        "fit: The lists go on. affine: Everything is brought to float32 first. standardize: No detach.",
    )
    .breaks("must not bring in a dtype of its own", "The buffers never require a gradient")
    .expect(
        test_fit="partial:fit-history-not-reset",
        test_affine="partial:affine-float32-only",
        test_standardize="partial:standardize-keeps-graph",
    )
    .edit("means = []", "means = []\n    numbers, sizes = [], []")
    .edit("        numbers, sizes = [], []\n", "")
    .edit(
        "out = torch.matmul(x, self.weight.t())",
        "out = torch.matmul(x.to(torch.float32), self.weight.t().to(torch.float32))",
        cell="affine",
    )
    .edit("out = out + self.bias", "out = out + self.bias.to(torch.float32)")
    .edit("mu.detach()", "mu", cell="standardize")
    .edit("sigma2.detach()", "sigma2"),
    Wrong(
        "wrong_fit_history_of_batches",
        "fit: All losses in one list. affine: Gaussian numbers. standardize: super().__init__() is forgotten.",
    )
    .breaks("Both start with random numbers")
    .expect(
        test_fit="partial:fit-history-of-batches",
        test_affine="partial:affine-start-range",
        test_standardize="failed:module-not-initialized",
    )
    .base("right_methods_for_each_parameter")
    .edit("summed += n * float(loss.detach())", "losses.append(loss.item())")
    .edit("        losses.append(summed / seen)\n", "")
    .edit(
        "(2 * torch.rand(out_features, in_features) - 1) * k", "torch.randn(out_features, in_features)", cell="affine"
    )
    .edit("(2 * torch.rand(out_features) - 1) * k", "torch.randn(out_features)")
    .edit("        super().__init__()\n", "", cell="standardize"),
    Wrong(
        "wrong_fit_last_batch_of_a_group_only",
        "fit: Cleared before every backward. adam: A dict of its own, keyed by id. "
        "sgd: A dict of its own, keyed by id.",
    )
    .breaks("that is given the `state_dict()` of another one")
    .expect(
        test_fit="partial:fit-last-batch-of-a-group-only",
        test_adam="partial:adam-memory-outside-state",
        test_sgd="partial:sgd-memory-outside-state",
    )
    .edit("            model.zero_grad()\n", "")
    .edit("for x, y in part:", "for x, y in part:\n                model.zero_grad()")
    .edit("super().__init__(", "self.memory = {}\n        super().__init__(", cell="adam")
    .edit("self.state[w]", "self.memory.setdefault(id(w), {})")
    .edit("super().__init__(", "self.memory = {}\n        super().__init__(", cell="sgd")
    .edit("self.state[w]", "self.memory.setdefault(id(w), {})"),
    Wrong(
        "wrong_fit_last_group_dropped",
        "fit: Only full groups make a step. standardize: There is no difference between the modes. "
        "sgd: Every parameter has a gradient, surely.",
    )
    .breaks("the last group of an epoch holds those that are left")
    .expect(
        test_fit="partial:fit-last-group-dropped",
        test_standardize="partial:standardize-mode-ignored",
        test_sgd="partial:missing-gradient-not-skipped",
    )
    .base("right_methods_for_each_parameter")
    .edit("if (i + 1) % accumulate == 0 or i + 1 == len(batches):", "if (i + 1) % accumulate == 0:")
    .edit(
        """        if not self.training:
            return (x - self.running_mean) * (self.running_var + self.eps) ** -0.5
""",
        "",
        cell="standardize",
    )
    .edit(
        "if w.grad is not None:\n                    self.move(w, w.grad, self.state[w], g)",
        "self.move(w, w.grad, self.state[w], g)",
        cell="sgd",
    ),
    Wrong(
        "wrong_fit_leftovers_count",
        "fit: Cleared after each step only. adam: A new tensor, and the old one stays. "
        "sgd: A new tensor, and the old one stays.",
    )
    .breaks("A step changes the parameters in place", "Gradients left over from before the call")
    .expect(
        test_fit="partial:fit-leftovers-count",
        test_adam="failed:adam-parameter-rebound",
        test_sgd="failed:sgd-parameter-rebound",
    )
    .edit("            model.zero_grad()\n", "")
    .edit("optimizer.step()", "optimizer.step()\n            model.zero_grad()")
    .edit('w.sub_(g["lr"] * up / down)', 'w = w.sub(g["lr"] * up / down)', cell="adam")
    .edit('w.add_(d, alpha=-g["lr"])', 'w = w.add(d, alpha=-g["lr"])', cell="sgd"),
    Wrong(
        "wrong_fit_means_added",
        "fit: Gradients of means are added up. adam: The return stands for nothing. standardize: Plain attributes.",
    )
    .breaks("There are two running statistics", "For each group there is one")
    .expect(
        test_fit="partial:fit-means-added",
        test_adam="partial:adam-loss-not-returned",
        test_standardize="partial:standardize-plain-tensors",
    )
    .base("right_methods_for_each_parameter")
    .edit("loss.mul(n).backward()", "loss.backward()")
    .edit(
        """                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= waiting
""",
        "",
    )
    .edit("        return result\n", "", cell="adam")
    .edit(
        'self.register_buffer("running_mean", torch.full((features,), 0.0))',
        "self.running_mean = torch.zeros(features)",
        cell="standardize",
    )
    .edit(
        'self.register_buffer("running_var", torch.full((features,), 1.0))', "self.running_var = torch.ones(features)"
    ),
    Wrong(
        "wrong_fit_mode_as_it_came",
        "fit: The mode is not set. adam: self.t before the loop. affine: The bias is a plain tensor.",
    )
    .breaks("The model is in training mode while it learns")
    .expect(
        test_fit="partial:fit-mode-as-it-came",
        test_adam="partial:adam-count-of-all-steps",
        test_affine="partial:affine-bias-plain-tensor",
    )
    .base("right_methods_for_each_parameter")
    .edit("    model.train(True)\n", "")
    .edit("super().__init__(", "self.t = 0\n        super().__init__(", cell="adam")
    .edit("result = None", "result = None\n        self.t += 1")
    .edit('s["count"] += 1', 's["count"] = self.t')
    .edit(
        "self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)",
        "self.bias = ((2 * torch.rand(out_features) - 1) * k).requires_grad_(True)",
        cell="affine",
    ),
    Wrong(
        "wrong_fit_never_moves",
        "fit: Clear, then step. adam: lr is kept as an attribute. sgd: lr is kept as an attribute.",
    )
    .expect(
        test_fit="failed:fit-never-moves",
        test_adam="partial:adam-rate-of-the-start",
        test_sgd="partial:sgd-rate-of-the-start",
    )
    .edit(
        "p.grad = p.grad * (max_norm / norm)", "p.grad = p.grad * (max_norm / norm)\n            optimizer.zero_grad()"
    )
    .edit("super().__init__(", "self.rate = lr\n        super().__init__(", cell="adam")
    .edit('g["lr"] * up', "self.rate * up")
    .edit("super().__init__(", "self.rate = lr\n        super().__init__(", cell="sgd")
    .edit('-g["lr"]', "-self.rate"),
    Wrong(
        "wrong_fit_one_epoch_only",
        "fit: The return is indented too far. standardize: The last batch is kept. "
        "parallel_block: ModuleDict under another name.",
    )
    .breaks("entries of branch 0 start with", "how often to go through all batches")
    .expect(
        test_fit="partial:fit-one-epoch-only",
        test_standardize="partial:standardize-momentum-ignored",
        test_parallel_block="partial:block-other-names",
    )
    .base("right_methods_for_each_parameter")
    .edit("    return losses", "        return losses")
    .edit("(1 - self.m) * self.running_mean + self.m * mu.detach()", "mu.detach()", cell="standardize")
    .edit("(1 - self.m) * self.running_var + self.m * sigma2.detach()", "sigma2.detach()")
    .edit("self.branches = nn.ModuleList()", "self.paths = nn.ModuleDict()", cell="parallel_block")
    .edit("self.branches.append(branch)", 'self.paths[f"path{len(self.paths)}"] = branch')
    .edit("for branch in self.branches:", "for branch in self.paths.values():"),
    Wrong("wrong_fit_rows_added", "fit: Not divided at all. rmsprop: Plus. adam: One hat.")
    .expect(
        test_fit="failed:fit-rows-added", test_rmsprop="failed:rmsprop-uphill", test_adam="failed:adam-v-not-corrected"
    )
    .base("right_methods_for_each_parameter")
    .edit(
        """                for p in model.parameters():
                    if p.grad is not None:
                        p.grad /= waiting
""",
        "",
    )
    .edit('-g["lr"]', 'g["lr"]', cell="rmsprop")
    .edit('(s["second"] / (1 - b2 ** s["count"])).sqrt', 's["second"].sqrt', cell="adam"),
    Wrong(
        "wrong_fit_schedule_at_every_step",
        "fit: The scheduler stands in the inner loop. adam: self.t inside the loop. "
        "affine: Tensors that require a gradient, and no Parameters.",
    )
    .expect(
        test_fit="partial:fit-schedule-at-every-step",
        test_adam="failed:adam-one-count-for-all",
        test_affine="partial:affine-plain-tensors",
    )
    .base("right_methods_for_each_parameter")
    .edit(
        "optimizer.step()\n                optimizer.zero_grad()",
        """optimizer.step()
                optimizer.zero_grad()
                if scheduler:
                    scheduler.step()""",
    )
    .edit("        if scheduler:\n            scheduler.step()\n", "")
    .edit("super().__init__(", "self.t = 0\n        super().__init__(", cell="adam")
    .edit('s["count"] += 1', 'self.t += 1\n        s["count"] = self.t')
    .edit(
        "nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * k)",
        "torch.tensor(((2 * torch.rand(out_features, in_features) - 1) * k).tolist(), requires_grad=True)",
        cell="affine",
    )
    .edit(
        "self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)",
        "self.bias = torch.tensor(((2 * torch.rand(out_features) - 1) * k).tolist(), requires_grad=True)",
    ),
    Wrong(
        "wrong_fit_schedule_first",
        "fit: The scheduler opens the epoch. sgd: All options are attributes. rmsprop: A dict of its own, keyed by id.",
    )
    .breaks("A group may have its own value of every option", "is called once at the end of each epoch")
    .expect(
        test_fit="partial:fit-schedule-first",
        test_sgd="partial:sgd-options-of-the-start",
        test_rmsprop="partial:rmsprop-memory-outside-state",
    )
    .edit(
        "for _ in range(epochs):",
        "for _ in range(epochs):\n        if scheduler is not None:\n            scheduler.step()",
    )
    .edit("        if scheduler is not None:\n            scheduler.step()\n", "")
    .edit(
        "def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):",
        """def __init__(self, params, lr, momentum=0.0, nesterov=False, weight_decay=0.0):
        self.o = dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay)""",
        cell="sgd",
    )
    .edit("self.move(w, w.grad, self.state[w], g)", "self.move(w, w.grad, self.state[w], self.o)")
    .edit("super().__init__(", "self.memory = {}\n        super().__init__(", cell="rmsprop")
    .edit("self.state[w]", "self.memory.setdefault(id(w), {})"),
    Wrong(
        "wrong_fit_schedule_never",
        "fit: Once, after all epochs. standardize: Momentum as in Keras. parallel_block: A tuple of modules.",
    )
    .breaks("moves each of them", "The branches are submodules of the block")
    .expect(
        test_fit="partial:fit-schedule-never",
        test_standardize="partial:standardize-momentum-swapped",
        test_parallel_block="partial:block-plain-list",
    )
    .base("right_methods_for_each_parameter")
    .edit("        if scheduler:\n            scheduler.step()\n", "")
    .edit("losses.append(summed / seen)", "losses.append(summed / seen)\n    if scheduler:\n        scheduler.step()")
    .edit(
        "(1 - self.m) * self.running_mean + self.m * mu.detach()",
        "self.m * self.running_mean + (1 - self.m) * mu.detach()",
        cell="standardize",
    )
    .edit(
        "(1 - self.m) * self.running_var + self.m * sigma2.detach()",
        "self.m * self.running_var + (1 - self.m) * sigma2.detach()",
    )
    .edit("nn.ModuleList", "", cell="parallel_block")
    .edit("self.branches.append(branch)", "self.branches += (branch,)"),
    Wrong(
        "wrong_fit_step_before_backward",
        "fit: The step comes first. adam: self.param_groups[0]. sgd: self.param_groups[0].",
    )
    .expect(
        test_fit="partial:fit-step-before-backward",
        test_adam="partial:adam-first-group-only",
        test_sgd="partial:sgd-first-group-only",
    )
    .edit(
        "rows = sum([b[0].size(0) for b in part])",
        "rows = sum([b[0].size(0) for b in part])\n            optimizer.step()",
    )
    .edit("            optimizer.step()\n", "")
    .edit("self.param_groups:", "self.param_groups[:1]:", cell="adam")
    .edit("self.param_groups:", "self.param_groups[:1]:", cell="sgd"),
    Wrong(
        "wrong_fit_step_for_each_batch",
        "fit: accumulate is not used. adam: The closure is for other optimizers. "
        "sgd: The closure is for other optimizers.",
    )
    .breaks("if there is a closure, the step calls it once")
    .expect(
        test_fit="partial:fit-step-for-each-batch",
        test_adam="partial:adam-closure-ignored",
        test_sgd="partial:sgd-closure-ignored",
    )
    .base("right_methods_for_each_parameter")
    .edit("if (i + 1) % accumulate == 0 or i + 1 == len(batches):", "if waiting:")
    .edit("with torch.enable_grad():\n                result = closure()", "pass", cell="adam")
    .edit("with torch.enable_grad():\n                result = closure()", "pass", cell="sgd"),
    Wrong(
        "wrong_two_fit_mistakes",
        "Two mistakes in one function, twice: wrong scale and no mode; momentum swapped and a division by N - 1.",
    )
    .expect(
        test_fit="partial:fit-means-added",
        test_standardize="failed:standardize-momentum-swapped+standardize-n-minus-one",
    )
    .edit("(out * (x.size(0) / rows)).backward()", "out.backward()")
    .edit("    model.train()\n", "")
    .edit("(centered**2).sum(0) / x.shape[0]", "(centered**2).sum(0) / (x.shape[0] - 1)", cell="standardize")
    .edit(
        "(1 - self.m) * self.running_mean + self.m * mu.detach()",
        "self.m * self.running_mean + (1 - self.m) * mu.detach()",
    )
    .edit(
        "(1 - self.m) * self.running_var + self.m * sigma2.detach()",
        "self.m * self.running_var + (1 - self.m) * sigma2.detach()",
    ),
    Wrong("wrong_fit_groups_cross_epochs", "The batches that wait are never reset; the very last are flushed.")
    .breaks("a group is that many batches in a row")
    .expect(test_fit="partial:fit-groups-cross-epochs")
    .whole("""
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    history = []
    waiting, waiting_rows = 0, 0
    optimizer.zero_grad()
    for epoch in range(epochs):
        model.train()
        total, rows = 0.0, 0
        for i, (x, y) in enumerate(batches):
            loss = loss_fn(model(x), y)
            (loss * len(x)).backward()
            total += loss.item() * len(x)
            rows += len(x)
            waiting += 1
            waiting_rows += len(x)
            last = epoch == epochs - 1 and i == len(batches) - 1
            if waiting == accumulate or last:
                for p in model.parameters():
                    p.grad /= waiting_rows
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                optimizer.zero_grad()
                waiting, waiting_rows = 0, 0
        if scheduler is not None:
            scheduler.step()
        history.append(total / rows)
    return history
"""),
    Wrong("wrong_fit_counts_batches_of_all_epochs", "A count of batches that starts once; the last ones are lost.")
    .breaks("a group is that many batches in a row")
    .expect(test_fit="partial:fit-groups-cross-epochs-to-no-end")
    .base("right_methods_for_each_parameter")
    .edit("losses = []", "losses = []\n    optimizer.zero_grad()\n    count = waiting = 0")
    .edit("        optimizer.zero_grad()\n        seen = waiting = 0\n", "        seen = 0\n")
    .edit(
        "if (i + 1) % accumulate == 0 or i + 1 == len(batches):", "count += 1\n            if count % accumulate == 0:"
    ),
    Wrong("wrong_fit_schedule_not_at_the_end", "No step after the last epoch.")
    .breaks("is called once at the end of each epoch")
    .expect(test_fit="partial:fit-schedule-not-at-the-end")
    .base("right_methods_for_each_parameter")
    .edit("if scheduler:", "if scheduler and len(losses) + 1 < epochs:"),
]
