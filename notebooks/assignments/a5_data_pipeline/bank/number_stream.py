"""Wrong answers to `number_stream`."""

from autograder.bank import Wrong

BASES = {
    "counted": """
class NumberStream(IterableDataset):
    def __init__(self, paths):
        super().__init__()
        self.paths = paths

    def __iter__(self):
        info = get_worker_info()
        for k, path in enumerate(self.paths):
            if info is None or k % info.num_workers == info.id:
                yield from self.read(path)

    def read(self, path):
        with open(path) as lines:
            for text in lines:
                yield float(text.strip())
""",
}

OWN = "if info is None or k % info.num_workers == info.id:"

WRONG = [
    Wrong("wrong_stream_opens_all_first", "All files are opened before the first line is read.")
    .expect(test_number_stream="partial:stream-opens-early")
    .breaks("A file is opened when all numbers of the files before it have been yielded")
    .whole("""
class NumberStream(IterableDataset):
    def __init__(self, paths):
        super().__init__()
        self.paths = paths

    def __iter__(self):
        info = get_worker_info()
        first, step = (info.id, info.num_workers) if info else (0, 1)
        files = [open(path) for path in self.paths[first::step]]
        for file in files:
            with file:
                yield from map(float, file)
"""),
    Wrong("wrong_stream_doubled", "Nobody asks who works.")
    .expect(test_number_stream="partial:stream-doubled")
    .breaks("So all workers together give every number once")
    .edit(OWN, "if True:"),
    Wrong("wrong_stream_sorts_the_paths", "The list is sorted when the stream is made.")
    .expect(test_number_stream="partial:stream-sorts-the-paths")
    .breaks("file after file in the order of `paths`")
    .edit("self.paths = paths", "self.paths = sorted(paths)"),
    Wrong("wrong_stream_sorts_in_each_pass", "Each pass goes through the sorted list.")
    .expect(test_number_stream="partial:stream-sorts-the-paths")
    .edit("enumerate(self.paths)", "enumerate(sorted(self.paths))"),
    Wrong("wrong_stream_drops_the_rest", "Blocks of equal length.")
    .expect(test_number_stream="partial:stream-drops-the-rest")
    .edit(
        OWN,
        "share = 0 if info is None else len(self.paths) // info.num_workers\n"
        "            if info is None or info.id * share <= k < (info.id + 1) * share:",
    ),
    Wrong("wrong_stream_in_blocks", "Blocks of neighbors.")
    .expect(test_number_stream="partial:stream-in-blocks")
    .breaks("With `W` workers, worker number `w` yields")
    .edit(
        OWN,
        "share = -(-len(self.paths) // (1 if info is None else info.num_workers))\n"
        "            if info is None or k // share == info.id:",
    ),
    Wrong("wrong_stream_lines_shared", "Every worker opens every file.")
    .expect(test_number_stream="partial:stream-lines-shared")
    .edit(OWN, "if True:")
    .edit(
        "for text in lines:",
        "info = get_worker_info()\n            for at, text in enumerate(lines):\n"
        "                if info is not None and at % info.num_workers != info.id:\n                    continue",
    ),
    Wrong("wrong_stream_first_worker_alone", "The others rest.")
    .expect(test_number_stream="partial:stream-in-the-main-process-alone")
    .edit(OWN, "if info is None or info.id == 0:"),
    Wrong("wrong_stream_off_by_one", "Workers counted from 1.")
    .expect(test_number_stream="partial:stream-off-by-one-worker")
    .edit(OWN, "if info is None or (k > info.id and (k - info.id - 1) % info.num_workers == 0):"),
    Wrong("wrong_stream_used_up", "One iterator for all passes.")
    .expect(test_number_stream="partial:stream-used-up")
    .breaks("Each pass starts again from the beginning")
    .edit("self.paths = paths", "self.paths = iter(paths)"),
    Wrong("wrong_stream_opens_early", "All files are read first.")
    .expect(test_number_stream="partial:stream-opens-early")
    .breaks("A file is opened when all numbers of the files before it")
    .edit(
        "        info = get_worker_info()",
        "        whole = {path: list(self.read(path)) for path in self.paths}\n        info = get_worker_info()",
    )
    .edit("yield from self.read(path)", "yield from whole[path]"),
    Wrong("wrong_stream_opens_the_next_early", "One file ahead.")
    .expect(test_number_stream="partial")
    .edit("        info = get_worker_info()", "        info = get_worker_info()\n        waiting = []")
    .edit(
        "yield from self.read(path)",
        "following = list(self.read(path))\n                yield from waiting\n                waiting = following",
    )
    .edit("\n    def read(self, path):", "        yield from waiting\n\n    def read(self, path):"),
    Wrong("wrong_stream_tensors", "Tensors.")
    .expect(test_number_stream="partial:stream-gives-no-floats")
    .breaks("line after line, each as a Python `float`")
    .edit("yield float(text.strip())", "yield torch.tensor(float(text), dtype=torch.float64)"),
    Wrong("wrong_stream_stops_at_empty", "An empty file ends the stream.")
    .expect(test_number_stream="partial")
    .breaks("A file may be empty")
    .edit(
        "yield from self.read(path)",
        "if not Path(path).stat().st_size:\n                    return\n                yield from self.read(path)",
    ),
    Wrong("wrong_stream_needs_a_file_each", "A worker without files complains.")
    .expect(test_number_stream="partial")
    .breaks("There may be fewer files than workers")
    .edit(
        "        for k, path",
        "        if info and info.num_workers > len(self.paths):\n            raise ValueError('too many workers')\n"
        "        for k, path",
    ),
    Wrong("wrong_stream_lines_counted_through", "Line k of all files to worker k % W.")
    .expect(test_number_stream="partial:stream-lines-counted-through")
    .breaks("With `W` workers, worker number `w` yields")
    .whole("""
class NumberStream(IterableDataset):
    def __init__(self, paths):
        self.paths = paths

    def __iter__(self):
        i = get_worker_info()
        w, W = (i.id, i.num_workers) if i else (0, 1)
        k = 0
        for p in self.paths:
            with open(p) as f:
                for line in f:
                    if k % W == w:
                        yield float(line)
                    k += 1
"""),
    Wrong("wrong_stream_one_number", "loadtxt, which gives a single number for a file of one line.")
    .expect(test_number_stream="partial:stream-goes-over-one-number")
    .edit(
        "with open(path) as lines:\n            for text in lines:\n                yield float(text.strip())",
        "for number in np.loadtxt(path):\n            yield float(number)",
    ),
    Wrong("wrong_stream_one_number_in_a_list", "The same as a list, which is none for a file of one line.")
    .expect(test_number_stream="partial:stream-goes-over-one-number")
    .edit(
        "with open(path) as lines:\n            for text in lines:\n                yield float(text.strip())",
        "yield from np.loadtxt(path).tolist()",
    ),
    Wrong("wrong_stream_asks_in_init", "Which worker it is, is asked where there is no worker yet.")
    .expect(test_number_stream="partial:stream-doubled")
    .edit("self.paths = paths", "self.paths = paths\n        self.info = get_worker_info()")
    .edit("info = get_worker_info()\n        for", "info = self.info\n        for"),
    Wrong("wrong_stream_every_third_number", "islice over everything.")
    .expect(test_number_stream="partial:stream-lines-counted-through")
    .edit("        for k, path in enumerate(self.paths):\n", "")
    .edit("            if info is None or k % info.num_workers == info.id:\n", "")
    .edit(
        "                yield from self.read(path)",
        """        import itertools

        everything = itertools.chain.from_iterable(map(self.read, self.paths))
        first, step = (info.id, info.num_workers) if info else (0, 1)
        yield from itertools.islice(everything, first, None, step)""",
    ),
]
