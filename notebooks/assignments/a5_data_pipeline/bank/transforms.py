"""Wrong answers to `transforms`."""

from autograder.bank import Wrong

BASES = {
    "concatenated": """
def channel_statistics(dataset, indices):
    everything = torch.cat([dataset[int(i)][0].flatten(start_dim=1) for i in indices], dim=1)
    return everything.mean(dim=1), everything.std(dim=1, correction=0)


def make_transforms(mean, std, augment, eps=1e-6):
    m, s = mean.view(-1, 1, 1), std.view(-1, 1, 1)
    return (lambda x: normalized(augment(x), m, s, eps)), (lambda x: normalized(x, m, s, eps))


def normalized(x, m, s, eps):
    return torch.div(torch.sub(x, m), torch.add(s, eps))
""",
}

PIXELS = "dataset[int(i)][0].flatten(start_dim=1) for i in indices"
STD = "everything.std(dim=1, correction=0)"
RESULT = "return torch.div(torch.sub(x, m), torch.add(s, eps))"
PAIR = "return (lambda x: normalized(augment(x), m, s, eps)), (lambda x: normalized(x, m, s, eps))"

WRONG = [
    Wrong("wrong_statistics_difference_of_squares", "The mean of squares less the square of the mean, in float32.")
    .expect(test_transforms="partial:statistics-lose-a-small-deviation")
    .breaks("It is right also for a channel that hardly varies")
    .edit(STD, "(everything.square().mean(dim=1) - everything.mean(dim=1).square()).clamp(min=0).sqrt()"),
    Wrong("wrong_statistics_nan", "The same in float64, and nothing keeps it from a root of less than 0.")
    .expect(test_transforms="partial:statistics-root-of-less-than-zero")
    .edit(STD, "(everything.double().square().mean(dim=1) - everything.double().mean(dim=1).square()).sqrt().float()"),
    Wrong("wrong_statistics_all", "Fitted on everything.")
    .expect(test_transforms="partial:statistics-of-all-items")
    .breaks("taken over all pixels of the images")
    .edit("for i in indices], dim=1", "for i in range(len(dataset))], dim=1"),
    Wrong("wrong_statistics_of_the_others", "Fitted on the validation part.")
    .expect(test_transforms="partial:statistics-of-the-other-items")
    .edit("for i in indices], dim=1", "for i in range(len(dataset)) if i not in indices], dim=1"),
    Wrong("wrong_statistics_look_at_all", "All items are read, some are used.")
    .expect(test_transforms="partial:statistics-ask-for-other-items")
    .breaks("No other item of the data set is asked for")
    .edit("everything = torch", "images = [dataset[k][0] for k in range(len(dataset))]\n    everything = torch")
    .edit("dataset[int(i)][0].flatten", "images[i].flatten"),
    Wrong("wrong_statistics_sample", "torch.std as it is.")
    .expect(test_transforms="partial:statistics-std-of-a-sample")
    .breaks("divides by the number of pixels, not by one less")
    .edit("everything.std(dim=1, correction=0)", "everything.std(dim=1)"),
    Wrong("wrong_statistics_variance", "No root.")
    .expect(test_transforms="partial:statistics-variance")
    .edit(STD, "everything.var(dim=1, correction=0)"),
    Wrong("wrong_statistics_mean_of_means", "Each image counts the same.")
    .expect(test_transforms="partial:statistics-mean-of-means")
    .breaks("Every pixel counts once")
    .edit(
        "everything = torch.cat([dataset[int(i)][0].flatten(start_dim=1) for i in indices], dim=1)",
        "x = [dataset[int(i)][0].double().flatten(start_dim=1) for i in indices]\n"
        "    m = sum(v.mean(1) for v in x) / len(x)",
    )
    .edit(
        "return everything.mean(dim=1), everything.std(dim=1, correction=0)",
        "return m.float(), (sum((v * v).mean(1) for v in x) / len(x) - m * m).sqrt().float()",
    ),
    Wrong("wrong_statistics_averaged", "Means and deviations of the images, averaged.")
    .expect(test_transforms="partial:statistics-averaged-over-images")
    .edit("everything = torch.cat([", "x = [")
    .edit("], dim=1)\n", "]\n")
    .edit(
        "everything.mean(dim=1), everything.std(dim=1, correction=0)",
        "torch.stack([v.mean(1) for v in x]).mean(0), torch.stack([v.std(1, correction=0) for v in x]).mean(0)",
    ),
    Wrong("wrong_statistics_one_size", "torch.stack, which takes images of one size.")
    .expect(test_transforms="partial")
    .breaks("Images may differ in size")
    .edit("torch.cat([", "torch.stack([")
    .edit("], dim=1)\n", "]).transpose(0, 1).flatten(1)\n"),
    Wrong("wrong_statistics_one_for_all_channels", "One number for all channels.")
    .expect(test_transforms="partial:statistics-over-all-channels")
    .breaks("two float32 tensors of shape `(C,)`")
    .edit(
        "everything.mean(dim=1), everything.std(dim=1, correction=0)",
        "everything.mean().expand(len(everything)), everything.std(correction=0).expand(len(everything))",
    ),
    Wrong("wrong_normalize_without_eps", "Nothing in the way of a zero.")
    .expect(test_transforms="partial:normalize-without-eps")
    .breaks("with each channel's own numbers")
    .edit("torch.add(s, eps)", "s"),
    Wrong("wrong_normalize_eps_in_the_root", "As in batch normalization.")
    .expect(test_transforms="partial:normalize-eps-in-the-root")
    .edit("torch.add(s, eps)", "torch.sqrt(s * s + eps)"),
    Wrong("wrong_normalize_by_the_variance", "Squared.")
    .expect(test_transforms="partial:normalize-divides-by-the-variance")
    .edit("torch.add(s, eps)", "s.square() + eps"),
    Wrong("wrong_normalize_last_axis", "No view.")
    .expect(test_transforms="partial:normalize-along-the-last-axis")
    .edit("mean.view(-1, 1, 1), std.view(-1, 1, 1)", "mean, std"),
    Wrong("wrong_transforms_swapped", "Validation first.")
    .expect(test_transforms="partial:transforms-swapped")
    .breaks("which returns the pair `(train, validate)`")
    .edit("(lambda x: normalized(x, m, s, eps))", "(lambda x: normalized(augment(x), m, s, eps))")
    .edit("(lambda x: normalized(augment(x), m, s, eps)), ", "(lambda x: normalized(x, m, s, eps)), "),
    Wrong("wrong_both_augment", "The same function twice.")
    .expect(test_transforms="partial:validate-augments")
    .breaks("It has no random part")
    .edit("(lambda x: normalized(x, m, s, eps))", "(lambda x: normalized(augment(x), m, s, eps))"),
    Wrong("wrong_train_does_not_augment", "The same function twice, without augment.")
    .expect(test_transforms="partial:train-does-not-augment")
    .edit("(lambda x: normalized(augment(x), m, s, eps))", "(lambda x: normalized(x, m, s, eps))"),
    Wrong("wrong_train_augments_last", "Normalized, then augmented.")
    .expect(test_transforms="partial:train-augments-last")
    .breaks("first, once, and normalizes what that returns")
    .edit("normalized(augment(x), m, s, eps)", "augment(normalized(x, m, s, eps))"),
    Wrong("wrong_augment_called_in_vain", "validate calls augment and drops the result.")
    .expect(test_transforms="partial")
    .edit("(lambda x: normalized(x, m, s, eps))", "(lambda x: [normalized(x, m, s, eps), augment(x)][0])"),
    Wrong("wrong_augment_called_afterwards", "train calls augment once more, with no effect on its result.")
    .expect(test_transforms="partial:augment-called-elsewhere")
    .edit(
        PAIR,
        """def train(x):
        y = normalized(augment(x), m, s, eps)
        if x.shape[1] == 4:
            augment(x)
        return y

    return train, (lambda x: normalized(x, m, s, eps))""",
    ),
    Wrong("wrong_augment_size", "The mean as an image of the size of the given one.")
    .expect(test_transforms="partial")
    .breaks("`augment` may change the size")
    .edit("normalized(augment(x), m, s, eps)", "normalized(augment(x), m.expand(x.shape), s, eps)"),
    Wrong("wrong_normalize_in_place", "sub_ and div_.")
    .expect(test_transforms="partial:normalize-in-place")
    .breaks("The image that is given stays as it is")
    .edit(RESULT, "return x.sub_(m).div_(s + eps)"),
    Wrong("wrong_train_in_place", "What augment returns is normalized in place.")
    .expect(test_transforms="partial:train-normalizes-in-place")
    .breaks("The image that is given stays as it is")
    .edit("normalized(augment(x), m, s, eps)", "augment(x).sub_(m).div_(s + eps)"),
    Wrong("wrong_train_in_place_by_operators", "The same with -= and /=.")
    .expect(test_transforms="partial:train-normalizes-in-place")
    .edit(
        PAIR,
        """def train(x):
        y = augment(x)
        y -= m
        y /= s + eps
        return y

    return train, (lambda x: normalized(x, m, s, eps))""",
    ),
    Wrong("wrong_normalize_eps_as_a_bound", "The larger one of std and eps.")
    .expect(test_transforms="partial:normalize-eps-as-a-bound")
    .breaks("with each channel's own numbers")
    .edit("torch.add(s, eps)", "torch.maximum(s, torch.tensor(eps))"),
]
