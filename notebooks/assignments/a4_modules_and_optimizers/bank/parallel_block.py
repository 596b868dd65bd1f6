"""Wrong answers to `parallel_block`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong(
        "wrong_block_joined_along_rows",
        "parallel_block: The default axis of cat. sgd: Half of the formula. rmsprop: The other share.",
    )
    .breaks('With `mode="cat"` they are put')
    .expect(
        test_parallel_block="failed:block-joined-along-rows",
        test_sgd="failed:sgd-nesterov-without-gradient",
        test_rmsprop="failed:rmsprop-alpha-swapped",
    )
    .edit("return torch.cat(results, -1)", "return torch.cat(results)")
    .edit('d = d.add(s["buf"], alpha=mu)', 'd = s["buf"] * mu', cell="sgd")
    .edit(
        's["v"].mul_(g["alpha"]).addcmul_(d, d, value=1 - g["alpha"])',
        's["v"].mul_(1 - g["alpha"]).addcmul_(d, d, value=g["alpha"])',
        cell="rmsprop",
    ),
    Wrong(
        "wrong_block_mode_not_checked",
        "parallel_block: The mode is looked at in forward only. sgd: Decay of its own, after momentum. "
        "rmsprop: With Adam's correction.",
    )
    .breaks("Any other text raises")
    .expect(
        test_parallel_block="partial:block-mode-not-checked",
        test_sgd="failed:sgd-decay-beside-momentum",
        test_rmsprop="failed:rmsprop-corrected",
    )
    .edit("        assert_known(mode)\n", "")
    .edit("results.append(branch(x))", "results.append(branch(x))\n        assert_known(self.mode)")
    .edit('        if g["weight_decay"]:\n            d = d.add(w, alpha=g["weight_decay"])\n', "", cell="sgd")
    .edit(
        'w.add_(d, alpha=-g["lr"])',
        'shrink = g["lr"] * g["weight_decay"] * w\n        w.add_(d, alpha=-g["lr"]).sub_(shrink)',
    )
    .edit("if not s:", 'if not s:\n            s["n"] = 0', cell="rmsprop")
    .edit(
        'bottom = s["v"].sqrt().add_(g["eps"])',
        's["n"] += 1\n        bottom = (s["v"] / (1 - g["alpha"] ** s["n"])).sqrt().add_(g["eps"])',
    ),
    Wrong(
        "wrong_block_one_branch_for_all",
        "parallel_block: The loop variable is not used. sgd: With dampening, from the first step on. "
        "rmsprop: The return stands for nothing.",
    )
    .expect(
        test_parallel_block="failed:block-one-branch-for-all",
        test_sgd="failed:sgd-velocity-averaged",
        test_rmsprop="partial:rmsprop-loss-not-returned",
    )
    .edit("for branch in self.branches:", "for _ in range(len(self.branches)):")
    .edit("branch(x)", "self.branches[0](x)")
    .edit('s["buf"] = torch.clone(d)', 's["buf"] = d * (1 - mu)', cell="sgd")
    .edit('s["buf"].mul_(mu).add_(d)', 's["buf"].mul_(mu).add_(d, alpha=1 - mu)')
    .edit("        return result\n", "", cell="rmsprop"),
    Wrong(
        "wrong_module_not_initialized",
        "parallel_block: super().__init__() is forgotten. sgd: zeros in place of None. "
        "rmsprop: The decorator holds for the closure too.",
    )
    .breaks("is left out of the step")
    .expect(
        test_parallel_block="failed:module-not-initialized",
        test_sgd="partial:sgd-missing-gradient-is-zero",
        test_rmsprop="partial:closure-without-gradients",
    )
    .edit("        super().__init__()\n", "")
    .edit("if w.grad is not None:", "d = w.grad if w.grad is not None else torch.zeros_like(w)", cell="sgd")
    .edit(
        "                    self.move(w, w.grad, self.state[w], g)",
        "                self.move(w, d, self.state[w], g)",
    )
    .edit("with torch.enable_grad():\n                result = closure()", "result = closure()", cell="rmsprop"),
    Wrong("wrong_block_another_exception", "parallel_block: assert. sgd: The velocity is p.grad until the second step.")
    .breaks("Any other text raises")
    .expect(test_parallel_block="partial:block-another-exception", test_sgd="partial:sgd-velocity-shares-the-gradient")
    .edit('raise ValueError("unknown mode: " + str(mode))', 'assert False, "unknown mode: " + str(mode)')
    .edit('s["buf"] = torch.clone(d)', 's["buf"] = d', cell="sgd")
    .edit('s["buf"].mul_(mu).add_(d)', 's["buf"] = s["buf"] * mu + d'),
    Wrong("wrong_block_cat_in_reverse_order", "parallel_block: insert(0, ...). sgd: A default of 0.9.")
    .breaks("in the order of the list")
    .expect(test_parallel_block="failed:block-cat-in-reverse-order", test_sgd="partial")
    .edit("results.append(branch(x))", "results.insert(0, branch(x))")
    .edit("momentum=0.0", "momentum=0.9", cell="sgd"),
    Wrong("wrong_block_empties_the_list", "parallel_block: pop. sgd: The options are copied once.")
    .breaks("The list stays as it was", "So read options from the group at every step")
    .expect(test_parallel_block="partial:block-changes-the-list", test_sgd="partial")
    .edit(
        "for branch in branches:\n            self.branches.append(branch)",
        "while branches:\n            self.branches.append(branches.pop(0))",
    )
    .edit(
        "super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))",
        """super().__init__(params, dict(lr=lr, momentum=momentum, nesterov=nesterov, weight_decay=weight_decay))
        self.options = [dict(g) for g in self.param_groups]""",
        cell="sgd",
    )
    .edit(
        'for g in self.param_groups:\n            for w in g["params"]:',
        'for g, now in zip(self.options, self.param_groups):\n            for w in now["params"]:',
    ),
    Wrong("wrong_block_of_two", "parallel_block: Two branches, always. sgd: A list of parameters, always.")
    .breaks("is a list of one or more modules", "is what every optimizer takes")
    .expect(test_parallel_block="failed", test_sgd="partial")
    .edit(
        "total = results[0]\n        for result in results[1:]:\n            total = total + result",
        "total = results[0] + results[1]",
    )
    .edit(
        "super().__init__(params,",
        "params = list(params)\n        self.all = params\n        super().__init__(params,",
        cell="sgd",
    )
    .edit('for w in g["params"]:', "for w in self.all:"),
    Wrong("wrong_block_part_of_a_text", "Each part of one text counts as a mode.")
    .breaks("Any other text raises")
    .expect(test_parallel_block="partial:block-mode-not-checked")
    .edit('if mode != "sum" and mode != "cat":', 'if mode not in "sum, cat":'),
    Wrong("wrong_block_capital_letters", "The mode is brought into small letters first.")
    .breaks("Any other text raises")
    .expect(test_parallel_block="partial:block-mode-not-checked")
    .edit('if mode != "sum" and mode != "cat":', 'if mode.lower() not in ("sum", "cat"):'),
    Wrong("wrong_block_adds_to_the_last", "The other outputs are added to the last one, in place.")
    .breaks("It stays as it was, also when a branch is")
    .expect(test_parallel_block="partial:block-changes-x")
    .edit("total = results[0]", "total = results.pop()")
    .edit(
        "for result in results[1:]:\n            total = total + result",
        "for result in results:\n            total += result",
    ),
    Wrong("wrong_block_adds_in_place_but_for_x", "In place, unless the first output is x itself.")
    .breaks("the result is the sum of the branches' outputs")
    .expect(test_parallel_block="partial:block-changes-x")
    .edit("total = results[0]", "total = x.clone() if results[0] is x else results[0]")
    .edit("total = total + result", "total += result"),
]
