"""Wrong answers to `affine`."""

from autograder.bank import Wrong

BASE = "right_methods_for_each_parameter"

WRONG = [
    Wrong(
        "wrong_affine_bias_not_added",
        "affine: The sum with the bias is computed and dropped. standardize: The root is missing. "
        "parallel_block: stack and mean.",
    )
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
]
