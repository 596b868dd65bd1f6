"""Wrong answers to `affine`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong(
        "wrong_affine_bias_not_added",
        "affine: The sum with the bias is computed and dropped. standardize: The root is missing. "
        "parallel_block: stack and mean.",
    )
    .breaks('With `mode="sum"` the result')
    .expect(
        test_affine="partial:affine-bias-not-added",
        test_standardize="failed:standardize-divides-by-variance",
        test_parallel_block="failed:block-mean",
    )
    .edit("out = out + self.bias", "out + self.bias")
    .edit("(self.running_var + self.eps) ** -0.5", "(self.running_var + self.eps) ** -1", cell="standardize")
    .edit("(sigma2 + self.eps) ** -0.5", "(sigma2 + self.eps) ** -1")
    .edit("return total", "return total / len(results)", cell="parallel_block"),
    Wrong(
        "wrong_affine_equal_numbers",
        "affine: Zeros. standardize: All statistics under no_grad. parallel_block: add_ writes into the first output.",
    )
    .breaks("In training mode the gradient with respect to `x` flows", "It stays as it was, also when a branch")
    .expect(
        test_affine="partial:affine-equal-numbers",
        test_standardize="partial:standardize-constant-statistics",
        test_parallel_block="partial:block-changes-x",
    )
    .edit("(2 * torch.rand(out_features, in_features) - 1) * k", "torch.zeros(out_features, in_features)")
    .edit("(2 * torch.rand(out_features) - 1) * k", "torch.zeros(out_features)")
    .edit("mu = x.sum(0)", "mu = x.detach().sum(0)", cell="standardize")
    .edit("(centered**2).sum(0)", "(centered.detach() ** 2).sum(0)")
    .edit("total = total + result", "total.add_(result)", cell="parallel_block"),
    Wrong(
        "wrong_affine_redrawn_in_forward",
        "affine: reset() is called in forward. standardize: One mean for everything. "
        "parallel_block: stack in place of cat.",
    )
    .expect(
        test_affine="partial:affine-redrawn-in-forward",
        test_standardize="failed:standardize-all-columns-together",
        test_parallel_block="failed:block-stacked",
    )
    .edit("k = in_features**-0.5", "k = self.k = in_features**-0.5")
    .edit(
        "out = torch.matmul(x, self.weight.t())",
        """for p in self.parameters():
            nn.init.uniform_(p, -self.k, self.k)
        out = torch.matmul(x, self.weight.t())""",
    )
    .edit("mu = x.sum(0) / x.shape[0]", "mu = x.sum() / x.numel()", cell="standardize")
    .edit("sigma2 = (centered**2).sum(0) / x.shape[0]", "sigma2 = (centered**2).sum() / x.numel()")
    .edit("return torch.cat(results, -1)", "return torch.stack(results, len(results[0].shape))", cell="parallel_block"),
    Wrong(
        "wrong_affine_axes_flattened", "affine: Axes are flattened and stay so. parallel_block: A default of its own."
    )
    .breaks("`y` has shape `(..., out_features)`", 'With `mode="sum"` the result')
    .expect(test_affine="partial:affine-axes-flattened", test_parallel_block="failed")
    .edit("torch.matmul(x, self.weight.t())", "torch.matmul(x.view(-1, x.size(-1)), self.weight.t())")
    .edit('mode="sum"):', 'mode="cat"):', cell="parallel_block"),
    Wrong("wrong_affine_bias_starts_at_zero", "affine: A bias of zeros. sgd: The decorator of PyTorch's own check.")
    .breaks("drawn uniformly from", "`lr` may be negative", "yours does not")
    .expect(test_affine="partial:affine-bias-starts-equal", test_sgd="partial:sgd-refuses-a-negative-lr")
    .edit("nn.Parameter((2 * torch.rand(out_features) - 1) * k)", "nn.Parameter(torch.zeros(out_features))")
    .edit(
        "super().__init__(",
        'if lr < 0:\n            raise ValueError(f"Invalid learning rate: {lr}")\n        super().__init__(',
        cell="sgd",
    ),
    Wrong("wrong_affine_saves_its_bound", "affine: The bound is a buffer. parallel_block: Weights of its own.")
    .breaks("the only entries of its `state_dict()`", "The block has no parameters of its own")
    .expect(test_affine="partial", test_parallel_block="partial")
    .edit("k = in_features**-0.5", 'k = in_features**-0.5\n        self.register_buffer("bound", torch.tensor(k))')
    .edit(
        "self.mode = mode", "self.mode = mode\n        self.gains = nn.Parameter(torch.ones(3))", cell="parallel_block"
    ),
    Wrong("wrong_affine_bias_range", "The bias is drawn from a range of its own length.")
    .breaks("drawn uniformly from")
    .expect(test_affine="partial:affine-bias-range-of-out-features")
    .edit("(2 * torch.rand(out_features) - 1) * k", "(2 * torch.rand(out_features) - 1) / math.sqrt(out_features)"),
    Wrong("wrong_affine_bias_range_of_both", "The bias is drawn from Xavier's range.")
    .breaks("drawn uniformly from")
    .expect(test_affine="partial:affine-start-range")
    .edit(
        "(2 * torch.rand(out_features) - 1) * k",
        "(2 * torch.rand(out_features) - 1) * math.sqrt(6 / (in_features + out_features))",
    ),
    Wrong("wrong_affine_zeros_without_bias", "Random numbers only where there is a bias.")
    .breaks("drawn uniformly from")
    .expect(test_affine="partial:affine-equal-numbers")
    .edit(
        'self.register_parameter("bias", None)',
        'self.register_parameter("bias", None)\n            nn.init.zeros_(self.weight)',
    ),
]
