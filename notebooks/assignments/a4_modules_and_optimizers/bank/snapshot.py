"""Wrong answers to `snapshot`."""

from autograder.bank import Wrong

BASES = {
    "two_dicts": """
def snapshot(model, optimizer):
    return copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())


def restore(model, optimizer, saved):
    weights, rest = saved
    model.load_state_dict(weights)
    optimizer.load_state_dict(copy.deepcopy(rest))
""",
}

WRONG = [
    Wrong("wrong_snapshot_not_in_place", "snapshot: One copy of both objects, put in by __dict__.")
    .breaks("`restore(model, optimizer, saved)` brings back")
    .expect(test_snapshot="partial:snapshot-not-in-place")
    .whole("""
def snapshot(model, optimizer):
    return copy.deepcopy((model, optimizer))


def restore(model, optimizer, saved):
    for mine, kept in zip((model, optimizer), copy.deepcopy(saved)):
        mine.__dict__.update(vars(kept))
"""),
    Wrong(
        "wrong_snapshot_objects_swapped_in", "snapshot: Copies of the objects, put in by __dict__. fit: The rest leaks."
    )
    .expect(test_snapshot="partial:snapshot-optimizer-of-a-copy", test_fit="partial:fit-last-group-waits")
    .whole("""
def snapshot(model, optimizer):
    return copy.deepcopy(model), copy.deepcopy(optimizer)


def restore(model, optimizer, saved):
    kept, rest = copy.deepcopy(saved)
    model.__dict__.update(kept.__dict__)
    optimizer.__dict__.update(rest.__dict__)
""")
    .whole(
        """
def fit(model, optimizer, loss_fn, batches, epochs=1, accumulate=1, max_norm=None, scheduler=None):
    model.train()
    optimizer.zero_grad()
    history = []
    for _ in range(epochs):
        total = rows = 0
        for i, (x, y) in enumerate(batches):
            first = i - i % accumulate
            loss = loss_fn(model(x), y)
            total += loss.item() * len(x)
            rows += len(x)
            (loss * (len(x) / sum(len(a) for a, _ in batches[first : first + accumulate]))).backward()
            if i % accumulate == accumulate - 1:
                if max_norm is not None:
                    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
                optimizer.step()
                optimizer.zero_grad()
        if scheduler is not None:
            scheduler.step()
        history.append(total / rows)
    return history
""",
        cell="fit",
    ),
    Wrong(
        "wrong_snapshot_not_copied",
        "snapshot: Two dicts of other people's tensors. fit: An SGD of its own in every epoch. "
        "affine: The argument bias is overlooked.",
    )
    .breaks(
        "With `bias=False` there is no",
        "It stays good however long training goes on",
        "uses the optimizer that it is given",
    )
    .expect(
        test_snapshot="failed:snapshot-not-copied",
        test_fit="partial:fit-optimizer-made-anew",
        test_affine="partial:affine-bias-always-there",
    )
    .edit("copy.deepcopy(model.state_dict())", "model.state_dict()")
    .edit("copy.deepcopy(optimizer.state_dict())", "optimizer.state_dict()")
    .base("right_methods_for_each_parameter", cell="fit")
    .edit(
        "for epoch in range(epochs):",
        """for epoch in range(epochs):
        g = optimizer.param_groups[0]
        optimizer = torch.optim.SGD(model.parameters(), lr=g["lr"], momentum=g["momentum"])""",
    )
    .edit(
        """if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)
        else:
            self.register_parameter("bias", None)""",
        "self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * k)",
        cell="affine",
    ),
    Wrong(
        "wrong_snapshot_spoiled_by_restore",
        "snapshot: Copied when taken, not when brought back. fit: The last loss. affine: addmm takes matrices only.",
    )
    .breaks("`x` has shape `(..., in_features)`", "as often as one likes")
    .expect(
        test_snapshot="partial:snapshot-spoiled-by-restore",
        test_fit="partial:fit-history-last-batch",
        test_affine="partial:affine-two-axes-only",
    )
    .base("right_methods_for_each_parameter")
    .edit("{k: v.clone() if torch.is_tensor(v) else v for k, v in memory[i, j].items()}", "memory[i, j]")
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("summed / seen", "float(loss)")
    .edit(
        """out = torch.matmul(x, self.weight.t())
        if self.bias is not None:
            out = out + self.bias
        return out""",
        """if self.bias is None:
            return x.mm(self.weight.t())
        return torch.addmm(self.bias, x, self.weight.t())""",
        cell="affine",
    ),
    Wrong(
        "wrong_snapshot_without_options",
        "snapshot: The groups are not restored. fit: Measured again after the step. affine: A seed in __init__.",
    )
    .expect(
        test_snapshot="partial:snapshot-without-options",
        test_fit="partial:fit-history-after-the-step",
        test_affine="partial:affine-same-numbers-every-time",
    )
    .base("right_methods_for_each_parameter")
    .edit("        group.update(options[i])\n", "")
    .edit("                numbers.append(out.item())\n                sizes.append(x.size(0))\n", "", cell="fit")
    .edit(
        "optimizer.step()",
        """optimizer.step()
            for x, y in part:
                numbers.append(loss_fn(model(x), y).item())
                sizes.append(len(y))""",
    )
    .edit("super().__init__()", "super().__init__()\n        torch.manual_seed(42)", cell="affine"),
    Wrong("wrong_snapshot_of_the_objects", "snapshot: Model and optimizer themselves. fit: Tensors in the result.")
    .breaks("The result is a list with one Python `float`")
    .expect(test_snapshot="failed", test_fit="partial:fit-history-holds-tensors")
    .whole("""
def snapshot(model, optimizer):
    return model, optimizer


def restore(model, optimizer, saved):
    model.load_state_dict(saved[0].state_dict())
    optimizer.load_state_dict(saved[1].state_dict())
""")
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("float(loss.detach())", "loss.detach()"),
    Wrong("wrong_snapshot_memory_never_copied", "snapshot: Only the weights are copied. fit: Clipped, then divided.")
    .breaks("however long training goes on")
    .expect(test_snapshot="partial:snapshot-memory-never-copied", test_fit="partial:fit-clips-the-sum")
    .edit("copy.deepcopy(optimizer.state_dict())", "optimizer.state_dict()")
    .edit("copy.deepcopy(rest)", "rest")
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("nn.utils.clip_grad_norm_(list(model.parameters()), max_norm)", "pass")
    .edit(
        "                for p in model.parameters():\n",
        """                nn.utils.clip_grad_norm_(model.parameters(), max_norm or 1e9)
                for p in model.parameters():
""",
    ),
    Wrong("wrong_snapshot_only_one", "snapshot: A global place for the best. fit: The mean of the groups' means.")
    .breaks("whatever other snapshots are taken")
    .expect(test_snapshot="failed:snapshot-only-one", test_fit="partial:fit-history-mean-of-groups")
    .whole("""
KEPT = {}


def snapshot(model, optimizer):
    KEPT["model"] = copy.deepcopy(model.state_dict())
    KEPT["optimizer"] = copy.deepcopy(optimizer.state_dict())
    return KEPT


def restore(model, optimizer, saved):
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(copy.deepcopy(saved["optimizer"]))
""")
    .base("right_groups_as_slices", cell="fit")
    .edit(
        "                numbers.append(out.item())\n                sizes.append(x.size(0))\n",
        "                numbers.append(out.item() * x.size(0) / rows)\n",
    )
    .edit("            optimizer.step()\n", "            optimizer.step()\n            sizes.append(1)\n")
    .edit("sum(a * b for a, b in zip(numbers, sizes)) / sum(sizes)", "sum(numbers) / sum(sizes)"),
    Wrong(
        "wrong_snapshot_of_this_model", "snapshot: Keyed by the parameters themselves. fit: Evaluates after an epoch."
    )
    .breaks("It may be restored into another model", "in training mode while it learns")
    .expect(test_snapshot="partial:snapshot-of-this-model", test_fit="partial:fit-mode-lost-after-an-epoch")
    .edit(
        "return copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())",
        "return (model, copy.deepcopy(model.state_dict())), (optimizer, copy.deepcopy(optimizer.state_dict()))",
    )
    .edit("    weights, rest = saved", "    (model, weights), (optimizer, rest) = saved")
    .edit(
        "        if scheduler is not None:\n", "        model.eval()\n        if scheduler is not None:\n", cell="fit"
    ),
    Wrong("wrong_snapshot_changes_the_mode", "snapshot: eval, as before every saving.")
    .breaks("It changes nothing: parameters")
    .expect(test_snapshot="partial:snapshot-changes-the-mode")
    .edit("    return copy", "    model.eval()\n    return copy"),
    Wrong("wrong_snapshot_becomes_the_model", "snapshot: p.data is replaced. fit: The batches are shuffled.")
    .breaks("as often as one likes", "in the order of the list")
    .expect(test_snapshot="partial:snapshot-becomes-the-model", test_fit="failed")
    .base("right_methods_for_each_parameter")
    .edit("t.copy_(values[name])", "t.data = values[name]")
    .edit(
        "numbers, sizes = [], []", "numbers, sizes = [], []\n        batches = batches[1:] + batches[:1]", cell="fit"
    ),
    Wrong("wrong_snapshot_keeps_later_memory", "The memory by hand; where there was none, nothing is done.")
    .breaks("Training then goes on as it went on")
    .expect(test_snapshot="partial:snapshot-keeps-later-memory")
    .whole("""
def snapshot(model, optimizer):
    options = [{k: copy.deepcopy(v) for k, v in group.items() if k != "params"} for group in optimizer.param_groups]
    memory = [[copy.deepcopy(optimizer.state.get(p)) for p in group["params"]] for group in optimizer.param_groups]
    return copy.deepcopy(model.state_dict()), options, memory


def restore(model, optimizer, saved):
    weights, options, memory = saved
    model.load_state_dict(weights)
    for group, old, states in zip(optimizer.param_groups, options, memory):
        group.update(copy.deepcopy(old))
        for p, state in zip(group["params"], states):
            if state is not None:
                optimizer.state[p] = copy.deepcopy(state)
"""),
    Wrong("wrong_snapshot_updates_the_memory", "The memory of each parameter is updated, not replaced.")
    .breaks("Training then goes on as it went on")
    .expect(test_snapshot="partial:snapshot-keeps-later-memory")
    .base("right_methods_for_each_parameter")
    .edit(
        "optimizer.state[p] = {k: v.clone() if torch.is_tensor(v) else v for k, v in memory[i, j].items()}",
        "optimizer.state[p].update({k: v.clone() if torch.is_tensor(v) else v for k, v in memory[i, j].items()})",
    ),
    Wrong("wrong_snapshot_in_training_mode", "snapshot: The model is in training mode afterwards.")
    .breaks("It changes nothing: parameters")
    .expect(test_snapshot="partial")
    .edit("    return copy", "    model.train()\n    return copy"),
    Wrong("wrong_snapshot_of_the_first_options", "snapshot: All groups get the first one's options. fit: x.float().")
    .breaks("the optimizer's options and its memory")
    .expect(test_snapshot="partial", test_fit="partial")
    .base("right_methods_for_each_parameter")
    .edit("group.update(options[i])", "group.update(options[0])")
    .base("right_methods_for_each_parameter", cell="fit")
    .edit("model(inputs)", "model(inputs.float())"),
    Wrong("wrong_snapshot_lr_alone", "snapshot: Of the options lr alone comes back.")
    .breaks("the optimizer's options and its memory")
    .expect(test_snapshot="partial")
    .base("right_methods_for_each_parameter")
    .edit("group.update(options[i])", 'group["lr"] = options[i]["lr"]'),
    Wrong("wrong_snapshot_new_buffers", "snapshot: Buffers are replaced.")
    .breaks("`restore(model, optimizer, saved)` brings back")
    .expect(test_snapshot="partial")
    .edit(
        "    model.load_state_dict(weights)",
        """    model.load_state_dict(weights)
    for part in model.modules():
        for name, t in list(part.named_buffers(recurse=False)):
            setattr(part, name, t.clone())""",
    ),
    Wrong("wrong_snapshot_first_kept", "snapshot: What was taken once is handed out again.")
    .breaks("whatever other snapshots are taken")
    .expect(test_snapshot="failed")
    .edit(
        "    return copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())",
        """    if not hasattr(model, "taken"):
        model.taken = copy.deepcopy(model.state_dict()), copy.deepcopy(optimizer.state_dict())
    return model.taken""",
    ),
]
