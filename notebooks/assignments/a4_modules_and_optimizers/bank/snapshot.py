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
    Wrong(
        "wrong_snapshot_not_copied",
        "snapshot: Two dicts of other people's tensors. fit: An SGD of its own in every epoch. "
        "affine: The argument bias is overlooked.",
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
]
