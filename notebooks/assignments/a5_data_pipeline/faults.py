"""The mistakes that students make in a5, with the words that a student reads.

What is decided by the text is replayed: an edit of the reference. What is random cannot be replayed, since every
program draws its own numbers; such mistakes have no edits, and the check that counts names them.
"""

from __future__ import annotations

from autograder.judge import Fault

IMAGES = ("test_image_files",)
TRANSFORMS = ("test_transforms",)
SPLIT = ("test_split_by_group",)
COLLATE = ("test_pad_collate",)
SAMPLER = ("test_balanced_sampler",)
STREAM = ("test_number_stream",)
LOADER = ("test_make_loader",)
RESERVOIR = ("test_balanced_reservoir",)

# --- 1. ImageFiles --------------------------------------------------------------------------------------------------

IMAGE = "image = torch.from_numpy(pixels).permute(2, 0, 1).float() / 255"

IMAGE_FAULTS = [
    Fault(
        "images-sorted-by-path",
        cell="image_files",
        words="Your images come in the order of their paths as texts. There `cat-2/00.png` stands before `cat/00.png`, "
        'since "-" stands before "/", and the images of a later class come before those of an earlier one. The text '
        "goes class after class. Look at what you sort: names of folders and of files, or whole paths?",
        tests=IMAGES,
    ),
    Fault(
        "images-not-sorted",
        cell="image_files",
        words="All images are there, but their order or the numbers of their classes are not those of the sorted "
        "names. The order in which a computer lists a folder is not fixed, and names can be sorted by other rules, as "
        "numbers say. Whatever is stored by number elsewhere then belongs to another image or class. Look at every "
        "place where you list a folder, and at what you sort by.",
        tests=IMAGES,
    ),
    Fault(
        "images-empty-class-left-out",
        cell="image_files",
        words="A folder without images is missing in your numbering of the classes. Each folder in `root` is a class: "
        "a class of which this computer has no images yet keeps its number, or all behind it would get other numbers "
        "than elsewhere. Look at whether the names of the classes come from folders or from images.",
        tests=IMAGES,
    ),
    Fault(
        "images-channels-last",
        cell="image_files",
        edits={IMAGE: "image = torch.from_numpy(pixels).float() / 255"},
        words="Your images have the shape (height, width, 3). Files keep the three colors of a pixel together; "
        "PyTorch's layers expect a plane for each color. Look at the order of the axes.",
        tests=IMAGES,
    ),
    Fault(
        "images-axes-exchanged",
        cell="image_files",
        edits={IMAGE: "image = torch.from_numpy(pixels).permute(2, 1, 0).float() / 255"},
        words="Height and width are exchanged: your images are mirrored at the diagonal. In square images no shape "
        "tells. Look at where the axes change places, and follow each of them.",
        tests=IMAGES,
    ),
    Fault(
        "images-reshaped",
        cell="image_files",
        edits={IMAGE: "image = torch.from_numpy(pixels).reshape(3, pixels.shape[0], pixels.shape[1]).float() / 255"},
        words="The shape is right, and the pixels are in the wrong places: `reshape` and `view` cut the same row of "
        "numbers into other pieces, they do not move axes. Look at how the channels get to the front.",
        tests=IMAGES,
    ),
    Fault(
        "images-blue-first",
        cell="image_files",
        edits={IMAGE: "image = torch.from_numpy(pixels[:, :, ::-1].copy()).permute(2, 0, 1).float() / 255"},
        words="Red and blue are exchanged. Some libraries read colors as blue, green, red; Pillow does not. A network "
        "that was trained on the other order is quietly worse. Look at the order of the channels.",
        tests=IMAGES,
    ),
    Fault(
        "images-not-scaled",
        cell="image_files",
        edits={IMAGE: "image = torch.from_numpy(pixels).permute(2, 0, 1).float()"},
        words="Your images have values up to 255; the text asks for values from 0 to 1. With numbers that large the "
        "first steps of training are far too long. Look at what a byte is divided by.",
        tests=IMAGES,
    ),
    Fault(
        "images-divided-by-256",
        cell="image_files",
        words="You divide by 256, so white is 0.996 and not 1. The largest byte is 255.",
        tests=IMAGES,
        minor=True,
    ),
    Fault(
        "images-scaled-by-their-largest",
        cell="image_files",
        edits={IMAGE: "image = torch.from_numpy(pixels).permute(2, 0, 1).float()\n        image = image / image.max()"},
        words="Each image is divided by its own largest value. A dark image and a bright one then look alike, and "
        "what was dark or bright is lost. Look at what a byte is divided by.",
        tests=IMAGES,
    ),
    Fault(
        "images-transform-before-scaling",
        cell="image_files",
        edits={"image = self.transform(image)": "image = self.transform(image * 255) / 255"},
        words="The transform gets the bytes, and what it returns is divided by 255. It should get the image as it is "
        "without a transform, and nothing follows. Look at the order of the last lines.",
        tests=IMAGES,
    ),
    Fault(
        "images-transform-not-called",
        cell="image_files",
        edits={"image = self.transform(image)": "pass"},
        words="The transform has no influence on your items. Look at where you use the argument `transform`.",
        tests=IMAGES,
    ),
    Fault(
        "images-opened-at-the-start",
        cell="image_files",
        words="The files are read when the data set is made, before anybody asks for an item. With a million images "
        "the program would read for an hour before the first batch, and one damaged file would stop it. Look at "
        "what happens in `__init__`.",
        tests=IMAGES,
    ),
    Fault(
        "images-kept-after-reading",
        cell="image_files",
        words="An item that was asked for before comes as it was then, though its file has changed: your data set "
        "keeps what it has read. After one epoch all images are in memory, and in every worker once more. Look "
        "at what the data set remembers.",
        tests=IMAGES,
    ),
    Fault(
        "images-damaged-passes",
        cell="image_files",
        words="Where a file is damaged, your data set gives an item all the same. Nobody learns that something is "
        "wrong, and the network is trained on an image that is none, or on another one twice. Look at what you "
        "do with the exception.",
        tests=IMAGES,
    ),
    Fault(
        "images-damaged-left-out",
        cell="image_files",
        words="Your data set has fewer items than the folder has files, by as many as are damaged. All items behind "
        "them get other numbers, and whatever is stored by number no longer fits. Look at which files become "
        "examples.",
        tests=IMAGES,
    ),
    Fault(
        "images-damaged-other-error",
        cell="image_files",
        words="A damaged file raises an exception that is no `ValueError`. A program that waits for the one does not "
        "catch the other. Some files fail when they are opened, others when their pixels are read, and not "
        "always with the same exception: look at all lines that touch the file.",
        tests=IMAGES,
    ),
    Fault(
        "images-damaged-without-path",
        cell="image_files",
        words="The error of a damaged file does not contain the file's path. Among a million files, and from a "
        "worker, the message is all that helps to find it. Look at the text of your exception.",
        tests=IMAGES,
    ),
    Fault(
        "images-label-is-no-int",
        cell="image_files",
        words="The label is not of the type `int`. A text cannot be collated into a tensor of labels, and arrays and "
        "tensors of one number behave in other ways in `==`, as keys and in files. Look at the second part of "
        "the pair.",
        tests=IMAGES,
        minor=True,
    ),
]

# --- 2. channel_statistics, make_transforms -------------------------------------------------------------------------

MEAN = "mean = total / count"
ROOT = "std = (squares / count - mean**2).clamp(min=0).sqrt()"
NORMALIZED = "return (image - mean[:, None, None]) / (std[:, None, None] + eps)"

TRANSFORM_FAULTS = [
    Fault(
        "statistics-lose-a-small-deviation",
        cell="transforms",
        words="Your std is right for most channels, and wrong for one that hardly varies beside its mean. Two nearly "
        "equal numbers of float32, taken from each other, leave only what rounding has made of them. Look at what you "
        "subtract, and in which dtype.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-root-of-less-than-zero",
        cell="transforms",
        words="Your std is nan for some channels that have one value everywhere. The mean of the squares less the "
        "square of the mean is 0 there, and rounding can make it a little less, which has no root. Look at what stands "
        "under the root.",
        tests=TRANSFORMS,
        minor=True,
    ),
    Fault(
        "statistics-of-all-items",
        cell="transforms",
        edits={"for i in indices:": "for i in range(len(dataset)):"},
        words="Your statistics are those of the whole data set. Whatever is fitted on the validation set is a leak: "
        "the images that should be unseen have had a say. Look at which items you go through.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-of-the-other-items",
        cell="transforms",
        edits={"for i in indices:": "for i in set(range(len(dataset))) - set(indices):"},
        words="Your statistics are those of the items that are not in `indices`. Look at which items you go through.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-ask-for-other-items",
        cell="transforms",
        words="Your statistics are right, but items were asked for that are not in `indices`. Reading a file is what "
        "takes the time, and one of these files may be damaged. Look at which items you go through.",
        tests=TRANSFORMS,
        minor=True,
    ),
    Fault(
        "statistics-std-of-a-sample",
        cell="transforms",
        edits={ROOT: "std = ((squares / count - mean**2).clamp(min=0) * count / (count - 1)).sqrt()"},
        words="Your std divides by one less than the number of pixels, as `torch.std` does by itself. The text asks "
        "for the number of pixels. Look at the arguments of the function that you use.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-variance",
        cell="transforms",
        edits={ROOT: "std = (squares / count - mean**2).clamp(min=0)"},
        words="Your std is the variance: the root is missing.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-mean-of-means",
        cell="transforms",
        edits={
            "count += pixels.shape[1]": "count += 1",
            "total + pixels.sum(dim=1)": "total + pixels.mean(dim=1)",
            "squares + (pixels**2).sum(dim=1)": "squares + (pixels**2).mean(dim=1)",
        },
        words="Every image counts the same, however many pixels it has. A pixel of a small image then counts for more "
        "than one of a large image. Look at what is averaged, and when.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-averaged-over-images",
        cell="transforms",
        edits={
            "count += pixels.shape[1]": "count += 1",
            "total + pixels.sum(dim=1)": "total + pixels.mean(dim=1)",
            "squares + (pixels**2).sum(dim=1)": "squares + pixels.std(dim=1, correction=0)",
            ROOT: "std = squares / count",
        },
        words="Your numbers are the averages of the images' own means and of their own deviations. That an image is "
        "darker than another then counts for nothing, and small images count for too much. Look at what is "
        "averaged, and when.",
        tests=TRANSFORMS,
    ),
    Fault(
        "statistics-over-all-channels",
        cell="transforms",
        edits={
            "dataset[i][0].double().flatten(1)": "dataset[i][0].double().reshape(1, -1).expand(len(dataset[i][0]), -1)"
        },
        words="All channels get the same numbers: those of all channels together. Look at the axes over which you sum.",
        tests=TRANSFORMS,
    ),
    Fault(
        "normalize-without-eps",
        cell="transforms",
        edits={NORMALIZED: "return (image - mean[:, None, None]) / std[:, None, None]"},
        words="eps has no influence on your result. Where a channel is constant, std is 0, and the result is infinite "
        "or no number at all. Look at what you divide by.",
        tests=TRANSFORMS,
    ),
    Fault(
        "normalize-eps-as-a-bound",
        cell="transforms",
        edits={NORMALIZED: "return (image - mean[:, None, None]) / std[:, None, None].clamp(min=eps)"},
        words="eps takes the place of a std that is small or 0, and has no influence on the other channels. The text "
        "adds it to every std. Look at the formula.",
        tests=TRANSFORMS,
    ),
    Fault(
        "normalize-eps-in-the-root",
        cell="transforms",
        edits={NORMALIZED: "return (image - mean[:, None, None]) / (std[:, None, None] ** 2 + eps).sqrt()"},
        words="eps is added to the variance, under the root. There it has another size. Look at the formula.",
        tests=TRANSFORMS,
    ),
    Fault(
        "normalize-divides-by-the-variance",
        cell="transforms",
        edits={NORMALIZED: "return (image - mean[:, None, None]) / (std[:, None, None] ** 2 + eps)"},
        words="You divide by the square of std. Look at the formula.",
        tests=TRANSFORMS,
    ),
    Fault(
        "normalize-along-the-last-axis",
        cell="transforms",
        edits={NORMALIZED: "return (image - mean) / (std + eps)"},
        words="mean and std meet the last axis of the image, its columns, and not its channels. In an image of three "
        "columns that raises no error. Look at the shape that mean and std need.",
        tests=TRANSFORMS,
    ),
    Fault(
        "transforms-swapped",
        cell="transforms",
        edits={"return train, validate": "return validate, train"},
        words="The two functions have changed places: the first does not augment, and the second does. Look at the "
        "order in which you return them.",
        tests=TRANSFORMS,
    ),
    Fault(
        "validate-augments",
        cell="transforms",
        edits={
            NORMALIZED: "return (augment(image) - mean[:, None, None]) / (std[:, None, None] + eps)",
            "return validate(augment(image))": "return validate(image)",
        },
        words="`validate` augments, too. Then the accuracy of a network depends on chance, and is that on images that "
        "nobody took. Look at what the two functions have in common.",
        tests=TRANSFORMS,
    ),
    Fault(
        "train-does-not-augment",
        cell="transforms",
        edits={"return validate(augment(image))": "return validate(image)"},
        words="`train` does not augment. Look at where you call `augment`.",
        tests=TRANSFORMS,
    ),
    Fault(
        "train-augments-last",
        cell="transforms",
        edits={"return validate(augment(image))": "return augment(validate(image))"},
        words="`train` normalizes first and augments the normalized image. An augmentation that makes an image "
        "brighter expects values from 0 to 1, and what it adds is no longer normalized. Look at the order.",
        tests=TRANSFORMS,
    ),
    Fault(
        "augment-called-elsewhere",
        cell="transforms",
        words="`augment` is called more often, or less often, than `train`. Look at every place where you call it.",
        tests=TRANSFORMS,
    ),
    Fault(
        "train-normalizes-in-place",
        cell="transforms",
        edits={
            "return validate(augment(image))": "return augment(image).sub_(mean[:, None, None])"
            ".div_(std[:, None, None] + eps)"
        },
        words="`train` changes the image that it is given where `augment` returns this image itself, or a part of it. "
        "Then a data set that keeps its images would hand out worse ones in each epoch. Look for `-=`, `/=` and "
        "methods whose names end in an underscore.",
        tests=TRANSFORMS,
    ),
    Fault(
        "normalize-in-place",
        cell="transforms",
        edits={NORMALIZED: "return image.sub_(mean[:, None, None]).div_(std[:, None, None] + eps)"},
        words="Your function changes the image that it is given: the same image, transformed twice, gives two "
        "results. A data set that keeps its images would hand out worse ones in each epoch. Look for `-=`, `/=` "
        "and methods whose names end in an underscore.",
        tests=TRANSFORMS,
    ),
]

# --- 3. split_by_group ----------------------------------------------------------------------------------------------

SPLIT_FAULTS = [
    Fault(
        "split-by-row",
        cell="split_by_group",
        words="There are groups with rows on both sides. That is the leak that this split is to prevent: the network "
        "is asked about a patient whom it knows. Look at what you draw: rows or groups?",
        tests=SPLIT,
    ),
    Fault(
        "split-parts-swapped",
        cell="split_by_group",
        words="The two results have changed places: the first has as many groups as the second should have. Look at "
        "the order in which you return them.",
        tests=SPLIT,
    ),
    Fault(
        "split-wrong-number-of-groups",
        cell="split_by_group",
        words="Some class has not the number of validation groups that the text gives. A rare class may then be "
        "missing in validation. Look at the set from which you draw, and at whether a group can come twice.",
        tests=SPLIT,
    ),
    Fault(
        "split-rounds-up",
        cell="split_by_group",
        words="The number of validation groups is `fraction * G` rounded up. The text says `int`, which rounds down.",
        tests=SPLIT,
    ),
    Fault(
        "split-rounds-to-nearest",
        cell="split_by_group",
        words="The number of validation groups is `fraction * G` rounded to the nearest whole number. The text says "
        "`int`, which rounds down.",
        tests=SPLIT,
    ),
    Fault(
        "split-class-left-out",
        cell="split_by_group",
        words="A class with few groups has none in validation, so nobody would notice if the network never recognized "
        "it. Look at what your number of groups is when `fraction * G` is below 1.",
        tests=SPLIT,
    ),
    Fault(
        "split-rows-lost",
        cell="split_by_group",
        words="There are rows that are in neither part. Look at how you get from groups to rows.",
        tests=SPLIT,
    ),
    Fault(
        "split-rows-twice",
        cell="split_by_group",
        words="There are rows that come twice: in both parts, or two times in one. Look at how you get from groups to "
        "rows.",
        tests=SPLIT,
    ),
    Fault(
        "split-not-ascending",
        cell="split_by_group",
        words="The right rows are in the right parts, but the row numbers are not in ascending order. Look at the "
        "last lines of your function.",
        tests=SPLIT,
        minor=True,
    ),
    Fault(
        "split-groups-not-equally-likely",
        cell="split_by_group",
        words="Over 400 seeds some groups of a class were for validation far more often than others. Look at how you "
        "choose the groups: each of them should have the same chance, however many rows it has and wherever it "
        "stands.",
        tests=SPLIT,
    ),
    Fault(
        "split-ignores-the-seed",
        cell="split_by_group",
        words="Different seeds give the same split. Then you can never find out how much a result depends on the "
        "split. Look at where you use the argument `seed`.",
        tests=SPLIT,
    ),
    Fault(
        "split-not-by-the-seed-alone",
        cell="split_by_group",
        words="Two calls with the same seed gave two splits. Something random is drawn that the seed does not decide: "
        "nobody can repeat your experiment, and a network that is trained on gets to know its validation set. "
        "Look at where each random number comes from.",
        tests=SPLIT,
    ),
    Fault(
        "split-touches-global-generators",
        cell="split_by_group",
        words="Your function changes a global random generator: it draws from it or seeds it. The program that calls "
        "it then gets other random numbers, and perhaps the same ones after each call. Make a generator of your "
        "own from the seed.",
        tests=SPLIT,
    ),
    Fault(
        "split-changes-its-arguments",
        cell="split_by_group",
        words="Your function changes the arrays that it is given. Methods such as `sort()` and `rng.shuffle` work in "
        "place. Look at what they work on.",
        tests=SPLIT,
        minor=True,
    ),
]

# --- 4. pad_collate -------------------------------------------------------------------------------------------------

LONGEST = "longest = int(lengths.max())"
FILLED = "row[: len(sequence)] = sequence"
MASK = "mask = torch.arange(longest) < lengths[:, None]"
RETURNED = "return padded, mask, lengths, torch.tensor(labels)"

COLLATE_FAULTS = [
    Fault(
        "collate-fixed-length",
        cell="pad_collate",
        edits={LONGEST: "longest = max(10, int(lengths.max()))"},
        words="Your batch is longer than its longest sequence. Such padding costs time and memory in every layer. "
        "Look at where the length of the batch comes from.",
        tests=COLLATE,
    ),
    Fault(
        "collate-padding-value-ignored",
        cell="pad_collate",
        edits={"sequences[0].shape[1]), padding_value)": "sequences[0].shape[1]), 0.0)"},
        words="The padding is 0 whatever `padding_value` is. Look at where you use this argument.",
        tests=COLLATE,
    ),
    Fault(
        "collate-steps-first",
        cell="pad_collate",
        edits={RETURNED: "return padded.transpose(0, 1), mask, lengths, torch.tensor(labels)"},
        words="Your padded batch has the shape (longest, N, features): the sequences are columns, and not rows. Some "
        "functions that pad put the steps first if nobody says otherwise. Look at the order of the axes.",
        tests=COLLATE,
    ),
    Fault(
        "collate-steps-first-in-the-mask-too",
        cell="pad_collate",
        edits={RETURNED: "return padded.transpose(0, 1), mask.T, lengths, torch.tensor(labels)"},
        words="Your padded batch has the shape (longest, N, features), and your mask (longest, N): the sequences are "
        "columns, and not rows. Some functions that pad put the steps first if nobody says otherwise. Look at the "
        "order of the axes.",
        tests=COLLATE,
    ),
    Fault(
        "collate-cut-to-the-shortest",
        cell="pad_collate",
        edits={LONGEST: "longest = int(lengths.min())", FILLED: "row[:] = sequence[:longest]"},
        words="All sequences are cut to the length of the shortest. What they hold beyond it is lost. Look at where "
        "the length of the batch comes from.",
        tests=COLLATE,
    ),
    Fault(
        "collate-pads-in-front",
        cell="pad_collate",
        edits={
            FILLED: "row[longest - len(sequence) :] = sequence",
            MASK: "mask = torch.arange(longest) >= longest - lengths[:, None]",
        },
        words="The padding comes first and the sequence last. Both forms are in use; the text asks for the sequence "
        "first.",
        tests=COLLATE,
    ),
    Fault(
        "collate-mask-inverted",
        cell="pad_collate",
        edits={MASK: "mask = torch.arange(longest) >= lengths[:, None]"},
        words="Your mask is True where the padding is. PyTorch's own functions use both conventions, which is why the "
        "text says which one is meant here. A mean taken with such a mask is a mean of padding.",
        tests=COLLATE,
    ),
    Fault(
        "collate-mask-from-values",
        cell="pad_collate",
        edits={MASK: "mask = (padded != padding_value).all(dim=2)"},
        words="A step that happens to hold the padding value is masked as padding. Values cannot tell what is "
        "padding; look at what can.",
        tests=COLLATE,
    ),
    Fault(
        "collate-mask-one-too-long",
        cell="pad_collate",
        edits={MASK: "mask = torch.arange(longest) <= lengths[:, None]"},
        words="Your mask is True for one step too many. Steps are counted from 0, so the step with the number "
        "`length` is padding already.",
        tests=COLLATE,
    ),
    Fault(
        "collate-lengths-after-padding",
        cell="pad_collate",
        edits={RETURNED: "return padded, mask, torch.full_like(lengths, longest), torch.tensor(labels)"},
        words="All your lengths are the length of the batch: those after padding. How long each sequence was is lost. "
        "Look at when you take them.",
        tests=COLLATE,
    ),
    Fault(
        "collate-sorted-by-length",
        cell="pad_collate",
        edits={
            "zip(*items, strict=True)": "zip(*sorted(items, key=lambda item: -len(item[0])), strict=True)",
        },
        words="The rows are sorted by length. The program that uses the batch expects row `n` to be item `n`. Look at "
        "the order of the rows.",
        tests=COLLATE,
    ),
    Fault(
        "collate-labels-in-another-order",
        cell="pad_collate",
        edits={
            "lengths = torch.tensor": "sequences = sorted(sequences, key=len, reverse=True)\n    lengths = torch.tensor"
        },
        words="Sequences are sorted by length and labels are not: most sequences have the label of another one. Look "
        "at the order of the rows.",
        tests=COLLATE,
    ),
    Fault(
        "collate-empty-gets-a-step",
        cell="pad_collate",
        edits={"[len(sequence) for sequence in sequences]": "[max(1, len(sequence)) for sequence in sequences]"},
        words="An empty sequence comes back with the length 1, and its mask is True for a step that it does not have. "
        "A step of padding stands there as if it was data. Look at what becomes of a sequence without steps.",
        tests=COLLATE,
    ),
    Fault(
        "collate-never-without-steps",
        cell="pad_collate",
        edits={LONGEST: "longest = max(1, int(lengths.max()))"},
        words="Where all sequences are empty, your batch has a step of padding. The longest of them has the length 0. "
        "Look at where the length of the batch comes from.",
        tests=COLLATE,
    ),
    Fault(
        "collate-always-float32",
        cell="pad_collate",
        words="The batch is float32 also where the sequences are float64. Half of the digits are lost, silently. Look "
        "at where you make the tensor that you fill.",
        tests=COLLATE,
    ),
]

# --- 5. BalancedSampler ---------------------------------------------------------------------------------------------

SAMPLER_FAULTS = [
    Fault(
        "sampler-without-replacement",
        cell="balanced_sampler",
        raises=r"cannot sample n_sample > prob_dist.size\(-1\) samples without replacement|"
        r"Cannot take a larger sample than population when",
        words="More rows were to be drawn without replacement than there are. A row may come twice in one pass: draw "
        "with replacement. Look at the arguments of the function that draws.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-counts-negative-labels",
        cell="balanced_sampler",
        raises=r"ValueError: 'list' argument must have no negative elements|"
        r"RuntimeError: bincount only supports 1-d non-negative",
        words="`bincount` was given a negative number. It counts the numbers from 0 on, and labels are any whole "
        "numbers, also negative or huge ones. Look at how you count the rows of each class.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-index-out-of-bounds",
        cell="balanced_sampler",
        raises=r"IndexError: index -?\d+ is out of bounds for (axis|dimension) 0 with size",
        words="An array was asked for a place that it does not have. Labels are any whole numbers: an array with one "
        "place for each class has no place 100 for class 100. Look at what you index with, and how large it can be.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-not-balanced",
        cell="balanced_sampler",
        words="Each class has the share of the draws that it has of the rows, as if every row were equally likely. "
        "Look at the weight of a row.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-weights-by-frequency",
        cell="balanced_sampler",
        words="Large classes come even more often than without weights: the share of a class follows the square of "
        "its size. A row of a large class should weigh less, not more. Look at the weight of a row.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-weights-by-root",
        cell="balanced_sampler",
        words="The share of a class follows the root of its size: half of the way to balance. Look at the weight of a "
        "row.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-weights-too-strong",
        cell="balanced_sampler",
        words="The smallest class comes most often: the share of a class is one over its size. A class has many rows "
        "or few, so the weight of a row must make up for this once, not twice. Look at the weight of a row.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-rows-not-equally-likely",
        cell="balanced_sampler",
        words="The classes are balanced, but within a class some rows come far more often than others. Look at how a "
        "row is chosen within its class.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-draws-depend-on-each-other",
        cell="balanced_sampler",
        words="What is drawn depends on what was drawn before: classes or rows take turns, or a row that has come "
        "does not come again. Draw with replacement, and each draw by itself.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-wrong-number",
        cell="balanced_sampler",
        words="A pass does not give `num_samples` row numbers. Look at where the number of draws comes from.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-length",
        cell="balanced_sampler",
        words="`len(sampler)` is not `num_samples`, so a loader announces a wrong number of batches. Look at "
        "`__len__`.",
        tests=SAMPLER,
        minor=True,
    ),
    Fault(
        "sampler-gives-no-ints",
        cell="balanced_sampler",
        words="The row numbers are not Python ints. A list, for example, cannot be indexed by a tensor of one number "
        "that is float, and a dict does not find its key. Look at what you yield.",
        tests=SAMPLER,
        minor=True,
    ),
    Fault(
        "sampler-is-no-sampler",
        cell="balanced_sampler",
        words="Your class is no `Sampler`. Look at its first line.",
        tests=SAMPLER,
        minor=True,
    ),
    Fault(
        "sampler-repeats-itself",
        cell="balanced_sampler",
        words="Passes repeat each other: an epoch has the rows of another one in the same places. Rows that were not "
        "drawn are never seen. Look at when the generator is made, and when the draws are.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-ignores-the-seed",
        cell="balanced_sampler",
        words="Different seeds give the same rows. Look at where you use the argument `seed`.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-not-by-the-seed-alone",
        cell="balanced_sampler",
        words="Two samplers with the same seed gave different rows. Something random is drawn that the seed does not "
        "decide. Look at where each random number comes from.",
        tests=SAMPLER,
    ),
    Fault(
        "sampler-touches-global-generators",
        cell="balanced_sampler",
        words="Your sampler changes a global random generator: it draws from it or seeds it. The weights of the next "
        "layer, say, then depend on the data. Make a generator of your own from the seed.",
        tests=SAMPLER,
    ),
]

# --- 6. NumberStream ------------------------------------------------------------------------------------------------

OWN_FILES = "self.paths[first::step]"
SHARE = "first, step = (0, 1) if worker is None else (worker.id, worker.num_workers)"

STREAM_FAULTS = [
    Fault(
        "stream-sorts-the-paths",
        cell="number_stream",
        edits={"self.paths = list(paths)": "self.paths = sorted(paths)"},
        words="The files are read in the order of their names, and not in that of `paths`. Whoever makes the list "
        "decides which file comes first, and with workers which of them reads it. Look at what you do with the list.",
        tests=STREAM,
    ),
    Fault(
        "stream-goes-over-one-number",
        cell="number_stream",
        raises=r"TypeError: (iteration over a 0-d array|'float' object is not iterable)",
        words="A loop or a `yield from` goes over a single number, which is no row of numbers. `np.loadtxt` and "
        "`np.genfromtxt`, for example, return a single number for a file of one line. Look at what you go over where a "
        "file has one line.",
        tests=STREAM,
    ),
    Fault(
        "stream-doubled",
        cell="number_stream",
        words="With three workers every number comes three times: each worker reads all files. An epoch is three "
        "times as long, and nothing tells. Look at how a worker learns which files are its own.",
        tests=STREAM,
    ),
    Fault(
        "stream-drops-the-rest",
        cell="number_stream",
        edits={OWN_FILES: "(self.paths[len(self.paths) // step * first : len(self.paths) // step * (first + 1)])"},
        words="Each worker reads the same number of files, and those that remain are read by nobody. Look at what "
        "happens where the number of workers does not divide the number of files.",
        tests=STREAM,
    ),
    Fault(
        "stream-in-blocks",
        cell="number_stream",
        edits={
            OWN_FILES: "self.paths[-(-len(self.paths) // step) * first : -(-len(self.paths) // step) * (first + 1)]"
        },
        words="Each number comes once, but each worker reads a block of neighboring files. The text gives worker w "
        "the files w, w + W, w + 2 * W and so on. Look at how the list is cut.",
        tests=STREAM,
    ),
    Fault(
        "stream-lines-shared",
        cell="number_stream",
        edits={
            OWN_FILES: "self.paths",
            "for line in file:": "for line in list(file)[first::step]:",
        },
        words="The workers share the lines of each file, so every worker opens and reads every file. The text shares "
        "out the files. Look at what is counted in steps of W.",
        tests=STREAM,
    ),
    Fault(
        "stream-lines-counted-through",
        cell="number_stream",
        edits={
            f"for path in {OWN_FILES}": "count = -1\n        for path in self.paths",
            "yield float(line)": "count += 1\n                    if count % step == first:\n"
            "                        yield float(line)",
        },
        words="The workers share the lines, counted through from the first file to the last, so every worker opens and "
        "reads every file. The text shares out the files. Look at what is counted in steps of W.",
        tests=STREAM,
    ),
    Fault(
        "stream-in-the-main-process-alone",
        cell="number_stream",
        edits={SHARE: "first, step = (0, 1) if worker is None or worker.id == 0 else (len(self.paths), 1)"},
        words="Worker 0 reads all files and the others none. Each number comes once, but the other workers are "
        "useless. Look at what a worker with another number does.",
        tests=STREAM,
    ),
    Fault(
        "stream-off-by-one-worker",
        cell="number_stream",
        edits={SHARE: "first, step = (0, 1) if worker is None else (worker.id + 1, worker.num_workers)"},
        words="The numbers of the first file never come with workers. Workers are counted from 0. Look at the first "
        "file of each worker.",
        tests=STREAM,
    ),
    Fault(
        "stream-used-up",
        cell="number_stream",
        words="The second pass gives nothing: the stream can be read once only. Look at what is made in `__init__`, "
        "and what in `__iter__`.",
        tests=STREAM,
    ),
    Fault(
        "stream-opens-early",
        cell="number_stream",
        words="A file was read before the numbers in front of it had been given out. With thousands of files that "
        "takes time before the first batch, and memory for all of them. Look at when files are opened.",
        tests=STREAM,
    ),
    Fault(
        "stream-gives-no-floats",
        cell="number_stream",
        words="The stream does not yield Python floats. A loader collates texts into lists of texts, and tensors of "
        "float32 have fewer digits. Look at what you make of a line.",
        tests=STREAM,
        minor=True,
    ),
]

# --- 7. make_loader -------------------------------------------------------------------------------------------------

LOADER_FAULTS = [
    Fault(
        "loader-copied-generator",
        cell="make_loader",
        words="All workers draw the same random numbers, and in the next epoch the same ones again: each starts with "
        "its generator in the same state. Every image is augmented in the same few ways for ever. Look at what "
        "happens in a worker before its first item.",
        tests=LOADER,
    ),
    Fault(
        "loader-workers-alike",
        cell="make_loader",
        words="The workers of one epoch draw the same random numbers. In another epoch the numbers are different. "
        "Look at what the seed of a worker is made of.",
        tests=LOADER,
    ),
    Fault(
        "loader-epochs-alike",
        cell="make_loader",
        words="In each epoch the same random numbers come again: augmentation shows the network the same few "
        "versions. Workers are started anew for each epoch. Look at what the seed of a worker is made of.",
        tests=LOADER,
    ),
    Fault(
        "loader-seeds-overlap",
        cell="make_loader",
        words="Random numbers of one worker come again from another worker in another epoch, as if the two had the "
        "same seed. Workers of the same epoch differ, and so do the epochs of a worker. A sum of seed, epoch and "
        "worker, say, is the same number for many of them. Look at what the seed of a worker is made of.",
        tests=LOADER,
    ),
    Fault(
        "loader-shuffles-batches",
        cell="make_loader",
        words="The items of each batch are neighbors in the data set: it is the order of whole batches that is random. "
        "So the same items always meet. Look at what is shuffled.",
        tests=LOADER,
    ),
    Fault(
        "loader-rng-is-no-generator",
        cell="make_loader",
        raises=r"AttributeError: .*numpy\.random.* has no attribute 'integers'",
        words="The data set could not draw: its `rng` has no `integers`, which every NumPy Generator has. A "
        "RandomState and the module `np.random` have not. Look at what you set `dataset.rng` to.",
        tests=LOADER,
    ),
    Fault(
        "loader-does-not-shuffle",
        cell="make_loader",
        words="The items come in their own order. Data are often sorted by class, and a network trained in that order "
        "forgets the first class. Which argument of DataLoader shuffles?",
        tests=LOADER,
    ),
    Fault(
        "loader-same-order",
        cell="make_loader",
        words="Two epochs have the same order. Look at when the order is drawn.",
        tests=LOADER,
    ),
    Fault(
        "loader-drops-the-last-batch",
        cell="make_loader",
        words="The last batch is missing: the items that do not fill a batch never come. Look at the arguments of "
        "DataLoader.",
        tests=LOADER,
    ),
    Fault(
        "loader-items-not-once",
        cell="make_loader",
        words="An epoch does not give every item once: some come several times, and others not at all. Look at how "
        "the order is drawn.",
        tests=LOADER,
    ),
    Fault(
        "loader-order-without-seed",
        cell="make_loader",
        words="Two loaders with the same seed give the items in different orders. The order is drawn from something "
        "that the seed does not decide. Look at the generator of the loader.",
        tests=LOADER,
    ),
    Fault(
        "loader-numbers-without-seed",
        cell="make_loader",
        words="Two loaders with the same seed have the same order, and yet their items draw different random numbers. "
        "Look at where the seeds of `dataset.rng` come from, with workers and without.",
        tests=LOADER,
    ),
    Fault(
        "loader-order-ignores-the-seed",
        cell="make_loader",
        words="Different seeds give the same order. Look at where you use the argument `seed`.",
        tests=LOADER,
    ),
    Fault(
        "loader-numbers-ignore-the-seed",
        cell="make_loader",
        words="Loaders with different seeds have random numbers in common. Look at where the seeds of `dataset.rng` "
        "come from, with workers and without.",
        tests=LOADER,
    ),
    Fault(
        "loader-touches-global-generators",
        cell="make_loader",
        words="Making your loader, or going through it, changes a global random generator of the program. A "
        "`DataLoader` without a generator of its own draws a seed from PyTorch's global one at the start of "
        "each pass, workers or not. Look at which generators you seed and draw from.",
        tests=LOADER,
    ),
    Fault(
        "loader-workers-ignored",
        cell="make_loader",
        words="The loader has another number of workers than `num_workers`. Look at the arguments of DataLoader.",
        tests=LOADER,
    ),
    Fault(
        "loader-prefetch-ignored",
        cell="make_loader",
        words="The workers do not prepare `prefetch` batches ahead. Look at the arguments of DataLoader.",
        tests=LOADER,
    ),
    Fault(
        "loader-prefetch-without-workers",
        cell="make_loader",
        raises=r"ValueError: prefetch_factor option could only be specified in multiprocessing",
        words="PyTorch refuses to prefetch without workers: nothing can be prepared ahead where nobody works ahead. "
        "Look at what you hand to DataLoader if `num_workers` is 0.",
        tests=LOADER,
    ),
]

# --- 8. BalancedReservoir -------------------------------------------------------------------------------------------

RESERVOIR_FAULTS = [
    Fault(
        "reservoir-array-as-truth-value",
        cell="balanced_reservoir",
        raises=r"ValueError: The truth value of an array with more than one element|"
        r"RuntimeError: Boolean value of Tensor with more than one value",
        words="An array of several elements was asked whether it is true. Items may be arrays, and `==` between arrays "
        "gives an array; `in`, `index` and `remove` compare with `==`, too. Look at where you compare items or pairs, "
        "or ask whether one is there.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-keeps-a-class-that-is-gone",
        cell="balanced_reservoir",
        words="An item of a full class was kept when no item of its class was in memory. With `m` of them it is kept "
        "with probability `m / n`, which is 0 then. Look at what you do with a full class that has no item left.",
        tests=RESERVOIR,
        minor=True,  # it takes a memory that loses all items of a class
    ),
    Fault(
        "reservoir-counts-too-late",
        cell="balanced_reservoir",
        words="A new item of a full class is kept a little too often, as often as if it were not counted itself: with "
        "m / (n - 1). Look at when you count.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-never-replaces",
        cell="balanced_reservoir",
        words="New items of a full class are never kept, so of such a class the memory holds the earliest items only. "
        "Look at what happens to an item of a full class.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-always-replaces",
        cell="balanced_reservoir",
        words="New items of a full class are kept too often, so of such a class the memory holds mostly the latest "
        "items. Look at the chance that such an item has.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-not-balanced",
        cell="balanced_reservoir",
        words="Your memory behaves as a plain reservoir does: the class of an item plays no part, and rare classes "
        "drown. Look at where you use the label.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-forgets-what-was-full",
        cell="balanced_reservoir",
        words="A class that was the largest once, and is not the largest now, is treated as if it had never been "
        "full. Its late items are then preferred to its early ones. Look at what the memory remembers of a "
        "class.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-full-decided-once",
        cell="balanced_reservoir",
        words="Which classes are full is decided when the memory is filled, and never again. A class that becomes the "
        "largest later is not called full. Look at when you decide.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-one-of-a-tie",
        cell="balanced_reservoir",
        words="If several classes have equally many items in memory, you call only one of them full. Look at how you "
        "find the class with the most items.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-largest-of-a-tie",
        cell="balanced_reservoir",
        words="If several classes have equally many items in memory, you always replace an item of the same one of "
        "them. Each item of all these classes should have the same chance. Look at how you find the item to "
        "replace.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-replaces-any",
        cell="balanced_reservoir",
        words="An item of a new class replaces any item in memory, also one of a small class. Look at which items may "
        "be replaced.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-replaces-oldest",
        cell="balanced_reservoir",
        words="Of the items that may be replaced it is always the oldest that goes. Look at how you choose one.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-replaces-newest",
        cell="balanced_reservoir",
        words="Of the items that may be replaced it is always the newest that goes, so the memory keeps what came "
        "early. Each should have the same chance. Look at how you choose one.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-replaces-first",
        cell="balanced_reservoir",
        words="Of the items that may be replaced it is always the one in the first place that goes, and the new item "
        "takes this place. All others stay for ever. Look at how you choose one.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-chance-of-all-items",
        cell="balanced_reservoir",
        words="A new item of a full class is kept with the chance of a plain reservoir: size of the memory by all "
        "items offered. Look at what m and n are in the text.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-full-class-replaces-largest",
        cell="balanced_reservoir",
        words="An item of a full class that is kept replaces one of the largest class, and not one of its own. Then a "
        "class grows though it is full. Look at which item has to go.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-loses-early",
        cell="balanced_reservoir",
        words="`offer` returns a pair though there is still room, so that nothing can be lost. Look at what it "
        "returns while the memory is filled.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-wrong-size",
        cell="balanced_reservoir",
        words="The memory does not hold as many items as it should: `size` of them, or all if fewer were offered. "
        "Look at the comparison with `size`.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-returns-the-wrong-pair",
        cell="balanced_reservoir",
        words="What `offer` returns does not fit to what `items()` returns: a pair that was said to be lost is in "
        "memory, or one that was not is missing. Look at what `offer` returns in each case.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-ignores-the-seed",
        cell="balanced_reservoir",
        words="Different seeds keep the same items. Look at where you use the argument `seed`.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-not-by-the-seed-alone",
        cell="balanced_reservoir",
        words="Two memories with the same seed, offered the same stream, hold different items. Something random is "
        "drawn that the seed does not decide. Look at where each random number comes from.",
        tests=RESERVOIR,
    ),
    Fault(
        "reservoir-touches-global-generators",
        cell="balanced_reservoir",
        words="Your memory changes a global random generator: it draws from it or seeds it. Make a generator of your "
        "own from the seed.",
        tests=RESERVOIR,
    ),
]

FAULTS = [
    *IMAGE_FAULTS,
    *TRANSFORM_FAULTS,
    *SPLIT_FAULTS,
    *COLLATE_FAULTS,
    *SAMPLER_FAULTS,
    *STREAM_FAULTS,
    *LOADER_FAULTS,
    *RESERVOIR_FAULTS,
]
