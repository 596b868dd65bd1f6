"""Wrong answers to `image_files`."""

from autograder.bank import Wrong

BASES = {
    "listed": """
import os


class ImageFiles(Dataset):
    def __init__(self, root, transform=None):
        self.root, self.transform = str(root), transform
        names = os.listdir(self.root)
        self.classes = sorted(n for n in names if os.path.isdir(os.path.join(self.root, n)))
        self.samples = []
        for name in self.classes:
            inside = os.listdir(os.path.join(self.root, name))
            self.samples += [(name, f) for f in sorted(inside) if f.endswith(".png")]

    def __len__(self):
        return len(self.samples)

    def path(self, i):
        return os.path.join(self.root, *self.samples[i])

    def __getitem__(self, i):
        try:
            picture = Image.open(self.path(i)).convert("RGB")
        except Exception as problem:
            raise ValueError("damaged: " + self.path(i)) from problem
        x = np.asarray(picture, dtype=np.float32)
        x = torch.tensor(x.transpose(2, 0, 1) / 255)
        if self.transform:
            x = self.transform(x)
        return x, self.classes.index(self.samples[i][0])
""",
}

SCALED = "torch.tensor(x.transpose(2, 0, 1) / 255)"
OPENED = 'picture = Image.open(self.path(i)).convert("RGB")'
CAUGHT = 'raise ValueError("damaged: " + self.path(i)) from problem'

WRONG = [
    Wrong("wrong_images_any_case", "Endings in upper case, too.")
    .expect(test_image_files="partial")
    .breaks("whose names end in `.png`, in lower case")
    .edit('f.endswith(".png")', 'f.lower().endswith(".png")'),
    Wrong("wrong_images_empty_class", "Classes are the folders that have images.")
    .expect(test_image_files="partial:images-empty-class-left-out")
    .breaks("a folder without images is one")
    .edit(
        "    def __len__",
        "        self.classes = sorted({name for name, _ in self.samples})\n\n    def __len__",
    ),
    Wrong("wrong_images_files_not_sorted", "Files in reversed order, as a folder may list them.")
    .expect(test_image_files="failed:images-not-sorted")
    .breaks("in each class sorted by name")
    .edit("sorted(inside)", "sorted(inside, reverse=True)"),
    Wrong("wrong_images_files_by_number", "9.png before 10.png.")
    .expect(test_image_files="partial:images-not-sorted")
    .breaks("in each class sorted by name")
    .edit("sorted(inside)", "sorted(inside, key=lambda name: (len(name), name))"),
    Wrong("wrong_images_sorted_by_path", "All examples are sorted by the text of their paths.")
    .expect(test_image_files="partial:images-sorted-by-path")
    .breaks("class after class, and in each class")
    .edit("    def __len__", "        self.samples.sort(key='/'.join)\n\n    def __len__"),
    Wrong("wrong_images_sorted_glob", "A sorted list of what glob finds.")
    .expect(test_image_files="partial:images-sorted-by-path")
    .edit(
        "    def __len__",
        """        import glob

        found = sorted(glob.glob(os.path.join(self.root, "*", "*.png")))
        self.samples = [tuple(path.split(os.sep)[-2:]) for path in found]

    def __len__""",
    ),
    Wrong("wrong_images_classes_without_case", "Upper and lower case make no difference.")
    .expect(test_image_files="partial:images-not-sorted")
    .breaks("lists the names of the folders in `root`, sorted")
    .edit(
        "sorted(n for n in names if os.path.isdir(os.path.join(self.root, n)))",
        "sorted((n for n in names if os.path.isdir(os.path.join(self.root, n))), key=str.lower)",
    ),
    Wrong("wrong_images_classes_as_listed", "Classes in another order than sorted.")
    .expect(test_image_files="failed:images-not-sorted")
    .breaks("lists the names of the folders in `root`, sorted")
    .edit(
        "sorted(n for n in names if os.path.isdir(os.path.join(self.root, n)))",
        "sorted((n for n in names if os.path.isdir(os.path.join(self.root, n))), key=lambda n: n[::-1])",
    ),
    Wrong("wrong_images_labels_as_listed", "The label is the place in another list of the classes.")
    .expect(test_image_files="failed:images-not-sorted")
    .breaks("The label is the place of the class in `classes`")
    .edit(
        "self.classes.index(self.samples[i][0])",
        "sorted(self.classes, key=str.lower, reverse=True).index(self.samples[i][0])",
    ),
    Wrong("wrong_images_order_of_the_disk", "The order of os.listdir, turned until it differs from the sorted one.")
    .expect(test_image_files="failed:images-not-sorted")
    .breaks("The computer may list a folder in any order")
    .edit("sorted(inside)", "(inside if inside != sorted(inside) else inside[::-1])"),
    Wrong("wrong_images_files_as_classes", "Files in the root are classes, too.")
    .expect(test_image_files="partial")
    .breaks("Other files in `root` are no classes")
    .edit("sorted(n for n in names if os.path.isdir(os.path.join(self.root, n)))", "sorted(names)")
    .edit(
        "inside = os.listdir(os.path.join(self.root, name))",
        "inside = os.listdir(os.path.join(self.root, name)) if '.' not in name else []",
    ),
    Wrong("wrong_images_all_files", "Whatever lies in a folder is an image.")
    .expect(test_image_files="partial")
    .breaks("Files with other endings are left out")
    .edit('if f.endswith(".png")', 'if ".png" in f'),
    Wrong("wrong_images_one_too_few", "The last file does not count.")
    .expect(test_image_files="failed")
    .breaks("is the number of examples, and")
    .edit("return len(self.samples)", "return len(self.samples) - 1"),
    Wrong("wrong_images_path_objects_only", "root / name, which a text cannot.")
    .expect(test_image_files="partial")
    .breaks("as text or as a `pathlib.Path`")
    .edit("self.root, self.transform = str(root), transform", "self.root, self.transform = str(root / '.'), transform"),
    Wrong("wrong_images_channels_last", "No transpose.")
    .expect(test_image_files="failed:images-channels-last")
    .breaks("red, green and blue, each byte divided by 255")
    .edit(SCALED, "torch.tensor(x / 255)"),
    Wrong("wrong_images_axes_exchanged", "transpose() turns all axes around.")
    .expect(test_image_files="failed:images-axes-exchanged")
    .edit("x.transpose(2, 0, 1)", "x.transpose()"),
    Wrong("wrong_images_reshaped", "view instead of permute.")
    .expect(test_image_files="failed:images-reshaped")
    .edit("x.transpose(2, 0, 1) / 255", "x.reshape(3, *x.shape[:2]) / 255"),
    Wrong("wrong_images_blue_first", "As OpenCV has it.")
    .expect(test_image_files="failed:images-blue-first")
    .edit("x.transpose(2, 0, 1) / 255", "x.transpose(2, 0, 1)[::-1] / 255"),
    Wrong("wrong_images_not_scaled", "Bytes as floats.")
    .expect(test_image_files="failed:images-not-scaled")
    .edit("x.transpose(2, 0, 1) / 255", "x.transpose(2, 0, 1)"),
    Wrong("wrong_images_divided_by_256", "256 values.")
    .expect(test_image_files="failed:images-divided-by-256")
    .edit("/ 255", "/ 256"),
    Wrong("wrong_images_scaled_by_their_largest", "Each image reaches 1.")
    .expect(test_image_files="failed:images-scaled-by-their-largest")
    .edit("/ 255", "/ x.max()"),
    Wrong("wrong_images_gray_stay_gray", "A gray image three times, alpha cut off.")
    .expect(test_image_files="partial")
    .breaks("become what Pillow's `convert")
    .edit(
        OPENED,
        "picture = Image.open(self.path(i))\n            picture.load()\n"
        "            picture = picture if picture.mode == 'RGB' else Image.new('RGB', picture.size)",
    ),
    Wrong("wrong_images_transform_not_called", "The transform is kept, and that is all.")
    .expect(test_image_files="partial:images-transform-not-called")
    .breaks("it gets this tensor, and what it returns")
    .edit("x = self.transform(x)", "self.transform(x)"),
    Wrong("wrong_images_opened_at_the_start", "Decoding in __init__.")
    .expect(test_image_files="partial:images-opened-at-the-start")
    .breaks("A file is opened when its item is asked for")
    .edit(
        "    def __len__",
        "        self.pictures = [Image.open(self.path(i)).convert('RGB') for i in range(len(self))]\n\n"
        "    def __len__",
    )
    .edit(OPENED, "picture = self.pictures[i]"),
    Wrong("wrong_images_verified_at_the_start", "Every file is looked at in __init__; what fails is left out.")
    .expect(test_image_files="partial:images-damaged-left-out")
    .breaks("It is still counted as an example")
    .edit(
        "    def __len__",
        """        def sound(i):
            try:
                return bool(Image.open(self.path(i)).convert('RGB'))
            except Exception:
                return False

        self.samples = [sample for i, sample in enumerate(self.samples) if sound(i)]

    def __len__""",
    ),
    Wrong("wrong_images_kept", "A cache.")
    .expect(test_image_files="partial:images-kept-after-reading")
    .breaks("It is read anew each time")
    .edit("    def __len__", "        self.cache = {}\n\n    def __len__")
    .edit(OPENED, "picture = self.cache[i] = self.cache.get(i) or Image.open(self.path(i)).convert('RGB')"),
    Wrong("wrong_images_damaged_black", "A black image in place of a damaged one.")
    .expect(test_image_files="partial:images-damaged-passes")
    .breaks("or a damaged one, raises `ValueError`")
    .edit(CAUGHT, "picture = Image.new('RGB', (8, 9))"),
    Wrong("wrong_images_damaged_next", "The next image in place of a damaged one.")
    .expect(test_image_files="partial:images-damaged-passes")
    .edit(CAUGHT, "return self[(i + 1) % len(self)]"),
    Wrong("wrong_images_damaged_other_error", "Pillow's own exceptions.")
    .expect(test_image_files="partial:images-damaged-other-error")
    .edit(CAUGHT, "raise RuntimeError(self.path(i)) from problem"),
    Wrong("wrong_images_damaged_half", "Only what cannot be opened is caught.")
    .expect(test_image_files="partial:images-damaged-other-error")
    .edit("except Exception as problem", "except __import__('PIL').UnidentifiedImageError as problem"),
    Wrong("wrong_images_damaged_without_path", "The message has the file's number.")
    .expect(test_image_files="partial:images-damaged-without-path")
    .breaks("The message contains the path")
    .edit('"damaged: " + self.path(i)', '"damaged: " + str(i)'),
    Wrong("wrong_images_label_array", "The label as an array of one number.")
    .expect(test_image_files="partial:images-label-is-no-int")
    .edit("self.classes.index(self.samples[i][0])", "np.int64(self.classes.index(self.samples[i][0]))"),
    Wrong("wrong_images_transform_of_bytes", "The transform gets the bytes, and its result is divided by 255.")
    .expect(test_image_files="partial:images-transform-before-scaling")
    .breaks("If there is a `transform`, it gets this tensor")
    .edit(SCALED, "torch.tensor(x.transpose(2, 0, 1))")
    .edit("        return x, self.classes", "        x = x / 255\n        return x, self.classes"),
]
