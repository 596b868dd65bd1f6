"""Wrong answers to `adam`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong(
        "wrong_adam_decay_always_decoupled",
        "adam: AdamW only. snapshot: Parameters only. fit: What is differentiated is added up.",
    )
    .expect(
        test_adam="partial:adam-decay-always-decoupled",
        test_snapshot="partial:snapshot-without-buffers",
        test_fit="partial:fit-history-of-scaled-losses",
    )
    .edit(
        """if g["decoupled"]:
            w.mul_(1 - g["lr"] * g["weight_decay"])
        else:
            d = d + w * g["weight_decay"]""",
        'w.mul_(1 - g["lr"] * g["weight_decay"])',
    )
    .base("right_methods_for_each_parameter", cell="snapshot")
    .edit(
        "values = {name: t.detach().clone() for name, t in [*model.named_parameters(), *model.named_buffers()]}",
        "values = {name: t.detach().clone() for name, t in model.named_parameters()}",
    )
    .edit(
        "for name, t in [*model.named_parameters(), *model.named_buffers()]:",
        "for name, t in model.named_parameters():",
    )
    .edit(
        "(out * (x.size(0) / rows)).backward()",
        "out = out * x.size(0) / rows\n                out.backward()",
        cell="fit",
    )
    .edit("                sizes.append(x.size(0))\n", "")
    .edit("sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes)", "sum(numbers)"),
    Wrong("wrong_adam_decay_ignored", "adam: Neither way. snapshot: dict() of the state. fit: Not divided.")
    .expect(
        test_adam="partial:adam-decay-ignored",
        test_snapshot="failed:snapshot-model-not-copied",
        test_fit="partial:fit-history-sum",
    )
    .edit('d = d + w * g["weight_decay"]', "pass")
    .edit('w.mul_(1 - g["lr"] * g["weight_decay"])', "pass")
    .edit("copy.deepcopy(model.state_dict())", "dict(model.state_dict())", cell="snapshot")
    .edit(
        "sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes)",
        "sum(a * b for a, b in zip(numbers, sizes))",
        cell="fit",
    ),
    Wrong("wrong_adam_decay_written_into_grad", "Weight decay is added to p.grad in place.")
    .expect(test_adam="partial:adam-decay-written-into-grad")
    .edit('d = d + w * g["weight_decay"]', 'd += w * g["weight_decay"]'),
    Wrong("wrong_adam_eps_in_the_root", "adam: Root of everything. fit: Maximizes. affine: No transpose.")
    .expect(
        test_adam="failed:adam-eps-in-the-root",
        test_fit="failed:fit-uphill",
        test_affine="partial:affine-not-transposed",
    )
    .edit(
        'down = (s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]',
        'down = (s["second"] / (1 - b2 ** s["count"]) + g["eps"]).sqrt()',
    )
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("loss.mul(n).backward()", "loss.mul(-n).backward()")
    .edit("self.weight.t()", "self.weight", cell="affine"),
    Wrong(
        "wrong_missing_gradient_not_skipped",
        "adam: Every parameter has a gradient, surely. snapshot: model is given a new value, which nobody sees. "
        "fit: The tensors are added up.",
    )
    .expect(
        test_adam="partial:missing-gradient-not-skipped",
        test_snapshot="failed:snapshot-without-model",
        test_fit="partial:fit-history-holds-graphs",
    )
    .edit(
        "if w.grad is not None:\n                    self.move(w, w.grad, self.state[w], g)",
        "self.move(w, w.grad, self.state[w], g)",
    )
    .edit("copy.deepcopy(model.state_dict())", "copy.deepcopy(model)", cell="snapshot")
    .edit("model.load_state_dict(weights)", "model = copy.deepcopy(weights)")
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("float(loss.detach())", "loss"),
    Wrong(
        "wrong_two_adam_mistakes",
        "Two mistakes in one cell: the mean is not corrected, and eps stands under the root. And two in SGD.",
    )
    .expect(test_adam="failed:adam-m-not-corrected+adam-eps-in-the-root", test_sgd="failed:sgd-uphill")
    .edit('up = s["first"] / (1 - b1 ** s["count"])', 'up = s["first"]')
    .edit(
        '(s["second"] / (1 - b2 ** s["count"])).sqrt() + g["eps"]',
        '(s["second"] / (1 - b2 ** s["count"]) + g["eps"]).sqrt()',
    )
    .edit("torch.clone(d)", "(1 - mu) * d", cell="sgd")
    .edit(".add_(d)", ".add_(d, alpha=1 - mu)")
    .edit('alpha=-g["lr"]', 'alpha=g["lr"]'),
    Wrong(
        "wrong_adam_clears_gradients",
        "adam: zero_grad at the end. snapshot: zero_grad before. fit: One cat for a group.",
    )
    .breaks("It changes nothing: parameters", "each batch passes through the model by itself")
    .expect(
        test_adam="partial:adam-clears-gradients",
        test_snapshot="partial:snapshot-clears-gradients",
        test_fit="partial:fit-group-as-one-batch",
    )
    .edit("return result", "self.zero_grad()\n        return result")
    .edit("    return copy", "    optimizer.zero_grad()\n    return copy", cell="snapshot")
    .edit("for x, y in part:\n", "for x, y in [tuple(map(torch.cat, zip(*part)))]:\n", cell="fit"),
    Wrong("wrong_adam_squares_in_place", "adam: g.mul_(g) for v. fit: The norm of each group of parameters.")
    .breaks("of all parameters of the model together")
    .expect(test_adam="partial:adam-changes-the-gradient", test_fit="partial:fit-clips-each-group")
    .edit('s["second"].mul_(b2).addcmul_(d, d, value=1 - b2)', 's["second"].mul_(b2).add_(d.mul_(d), alpha=1 - b2)')
    .base("right_methods_for_each_parameter", cell="fit")
    .edit(
        "nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)",
        "for g in optimizer.param_groups:\n                        nn.utils.clip_grad_norm_(g['params'], max_norm)",
    ),
    Wrong("wrong_adam_changes_the_gradient", "adam: g *= 1 - beta_1 in place, and back for v.")
    .expect(test_adam="partial:adam-changes-the-gradient")
    .edit('w.sub_(g["lr"] * up / down)', 'w.sub_(g["lr"] * up / down)\n        d.mul_(0.5)'),
    Wrong(
        "wrong_adam_penalty_in_m_alone", "adam: The L2 penalty does not enter v. rmsprop: v is updated after the step."
    )
    .expect(test_adam="partial:adam-penalty-not-in-v", test_rmsprop="failed:rmsprop-v-of-before-the-step")
    .edit(".addcmul_(d, d, value=1 - b2)", ".addcmul_(w.grad, w.grad, value=1 - b2)")
    .edit('        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])\n', "", cell="rmsprop")
    .edit(
        'w.addcdiv_(d, bottom, value=-g["lr"])',
        'w.addcdiv_(d, bottom, value=-g["lr"])\n        s["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])',
    ),
    Wrong("wrong_adam_largest_v", "adam: AMSGrad. standardize: Everything without gradients.")
    .expect(test_adam="partial:adam-largest-v", test_standardize="partial:standardize-without-gradients")
    .edit(
        'down = (s["second"]',
        's["most"] = torch.maximum(s.get("most", s["second"]), s["second"])\n        down = (s["most"]',
    )
    .edit("def forward(self, x):", "@torch.no_grad()\n    def forward(self, x):", cell="standardize"),
    Wrong("wrong_adam_memory_in_float32", "adam, sgd, rmsprop: The memory is made in the default dtype.")
    .breaks("must not bring in a dtype of its own")
    .expect(
        test_adam="partial:step-in-float32",
        test_sgd="partial:step-in-float32",
        test_rmsprop="partial:step-in-float32",
    )
    .edit("torch.zeros_like(w), torch.zeros_like(w)", "torch.zeros(w.shape), torch.zeros(w.shape)")
    .edit(".addcmul_(d, d, value=1 - b2)", ".add_(d * d, alpha=1 - b2)")
    .edit(
        's["buf"] = torch.clone(d)\n            else:\n                s["buf"].mul_(mu).add_(d)',
        's["buf"] = torch.zeros(w.shape)\n            s["buf"].mul_(mu).add_(d)',
        cell="sgd",
    )
    .edit("torch.zeros_like(w)", "torch.zeros(w.shape)", cell="rmsprop")
    .edit(".addcmul_(d, d, value=1 - g", ".add_(d * d, alpha=1 - g"),
    Wrong("wrong_adam_gradient_in_float32", "adam, sgd, rmsprop: p.grad.float().")
    .breaks("must not bring in a dtype of its own")
    .expect(
        test_adam="partial:step-in-float32",
        test_sgd="partial:step-in-float32",
        test_rmsprop="partial:step-in-float32",
    )
    .edit("self.move(w, w.grad,", "self.move(w, w.grad.float(),")
    .edit(".addcmul_(d, d, value=1 - b2)", ".add_(d * d, alpha=1 - b2)")
    .edit("self.move(w, w.grad,", "self.move(w, w.grad.float(),", cell="sgd")
    .edit("self.move(w, w.grad,", "self.move(w, w.grad.float(),", cell="rmsprop")
    .edit(".addcmul_(d, d, value=1 - g", ".add_(d * d, alpha=1 - g")
    .edit('w.addcdiv_(d, bottom, value=-g["lr"])', 'w.sub_(g["lr"] * (d / bottom))'),
    Wrong("wrong_adam_decays_without_gradient", "The decay comes before the question whether there is a gradient.")
    .expect(test_adam="partial:adam-decays-without-gradient")
    .edit(
        """            for w in g["params"]:
                if w.grad is not None:""",
        """            for w in g["params"]:
                if g["decoupled"]:
                    w.sub_(g["lr"] * g["weight_decay"] * w)
                if w.grad is not None:""",
    )
    .edit(
        """if g["decoupled"]:
            w.mul_(1 - g["lr"] * g["weight_decay"])
        else:""",
        'if not g["decoupled"]:',
    ),
    Wrong("wrong_adam_decoupled_attribute", "adam: decoupled is kept as an attribute. rmsprop: eps is.")
    .expect(test_adam="partial:adam-decoupled-of-the-start", test_rmsprop="partial:rmsprop-eps-of-the-start")
    .edit("super().__init__(", "self.decoupled = decoupled\n        super().__init__(")
    .edit('if g["decoupled"]:', "if self.decoupled:")
    .edit('.add_(g["eps"])', '.add_(self.defaults["eps"])', cell="rmsprop"),
    Wrong("wrong_adam_eps_attribute", "adam: eps of the constructor. rmsprop: All options of the constructor.")
    .expect(test_adam="partial:adam-eps-of-the-start", test_rmsprop="partial:rmsprop-all-of-the-start")
    .edit('+ g["eps"]', '+ self.defaults["eps"]')
    .edit(
        "self.move(w, w.grad, self.state[w], g)", "self.move(w, w.grad, self.state[w], self.defaults)", cell="rmsprop"
    ),
    Wrong("wrong_adam_decay_attribute", "weight_decay is kept as an attribute.")
    .expect(test_adam="partial:adam-decay-of-the-start")
    .edit("super().__init__(", "self.decay = weight_decay\n        super().__init__(")
    .edit('w.mul_(1 - g["lr"] * g["weight_decay"])', 'w.mul_(1 - g["lr"] * self.decay)')
    .edit('d = d + w * g["weight_decay"]', "d = d + w * self.decay"),
    Wrong("wrong_adam_rates_of_the_start", "lr is kept as an attribute, for the decay too.")
    .expect(test_adam="partial:adam-both-rates-of-the-start")
    .edit("self.move(w, w.grad, self.state[w], g)", 'self.move(w, w.grad, self.state[w], {**g, "lr": self.rate})')
    .edit("super().__init__(", "self.rate = lr\n        super().__init__("),
    Wrong("wrong_adam_all_of_the_start", "Every option is the constructor's.")
    .expect(test_adam="partial:adam-all-of-the-start")
    .edit("self.move(w, w.grad, self.state[w], g)", "self.move(w, w.grad, self.state[w], self.defaults)"),
    Wrong("wrong_adam_memory_stored_in_float32", "adam: m and v are cast to float32 after the first step.")
    .breaks("its memory too")
    .expect(test_adam="partial:step-in-float32")
    .edit(
        "        if len(s) == 0:",
        '        if "first" in s:\n'
        '            s["first"], s["second"] = s["first"].float(), s["second"].float()\n'
        "        else:",
    )
    .edit('s["first"].mul_(b1).add_(d, alpha=1 - b1)', 's["first"] = s["first"] * b1 + d * (1 - b1)')
    .edit('s["second"].mul_(b2).addcmul_(d, d, value=1 - b2)', 's["second"] = s["second"] * b2 + d * d * (1 - b2)'),
    Wrong("wrong_adam_v_stored_in_float32", "adam: Only v is.")
    .breaks("its memory too")
    .expect(test_adam="partial:step-in-float32")
    .edit(
        's["second"].mul_(b2).addcmul_(d, d, value=1 - b2)', 's["second"] = s["second"].float() * b2 + d * d * (1 - b2)'
    ),
]
