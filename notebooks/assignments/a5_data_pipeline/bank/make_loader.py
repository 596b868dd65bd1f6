"""Wrong answers to `make_loader`."""

from autograder.bank import Wrong

BASES = {
    "initial_seed": """
def fresh_rng(worker_id):
    get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())


def make_loader(dataset, batch_size, num_workers, seed, prefetch=2):
    g = torch.Generator()
    g.manual_seed(seed)
    dataset.rng = np.random.default_rng([seed, 1])
    if num_workers == 0:
        prefetch = None
    return DataLoader(dataset, batch_size=batch_size, shuffle=True, num_workers=num_workers, generator=g,
                      worker_init_fn=fresh_rng, prefetch_factor=prefetch)
""",
    "own_order": """
class Order(Sampler):
    def __init__(self, n, seed):
        self.n, self.rng = n, np.random.default_rng(seed)

    def __len__(self):
        return self.n

    def __iter__(self):
        return iter(self.rng.permutation(self.n).tolist())


def make_loader(dataset, batch_size, num_workers, seed, prefetch=2):
    order, numbers = np.random.SeedSequence(seed).spawn(2)
    dataset.rng = np.random.default_rng(numbers)

    def start(worker):
        dataset_here = get_worker_info().dataset
        dataset_here.rng = np.random.default_rng((get_worker_info().seed, seed))

    options = dict(num_workers=num_workers, worker_init_fn=start)
    if num_workers:
        options["prefetch_factor"] = prefetch
    return DataLoader(dataset, batch_size, sampler=Order(len(dataset), order),
                      generator=torch.Generator().manual_seed(seed), **options)
""",
}

FRESH = "get_worker_info().dataset.rng = np.random.default_rng(torch.initial_seed())"

WRONG = [
    Wrong("wrong_loader_no_init", "Nothing is done in a worker.")
    .expect(test_make_loader="partial:loader-copied-generator")
    .breaks("Two items never get the same random numbers")
    .edit("worker_init_fn=fresh_rng, ", ""),
    Wrong("wrong_loader_numpy_seed", "np.random.seed, which the data set does not use.")
    .expect(test_make_loader="partial:loader-copied-generator")
    .edit(FRESH, "np.random.seed(torch.initial_seed() % 2**32)"),
    Wrong("wrong_loader_workers_alike", "The seed of the epoch, without the worker.")
    .expect(test_make_loader="partial:loader-workers-alike")
    .edit("torch.initial_seed()", "torch.initial_seed() - worker_id"),
    Wrong("wrong_loader_epochs_alike", "The seed and the number of the worker.")
    .expect(test_make_loader="partial:loader-epochs-alike")
    .edit(
        "worker_init_fn=fresh_rng, ",
        "worker_init_fn=lambda w: setattr(get_worker_info().dataset, 'rng', np.random.default_rng(seed + w)), ",
    ),
    Wrong("wrong_loader_not_shuffled", "No shuffle.")
    .expect(test_make_loader="failed:loader-does-not-shuffle")
    .breaks("The order is random, and another one in each epoch")
    .edit("shuffle=True, ", ""),
    Wrong("wrong_loader_same_order", "An order drawn once.")
    .expect(test_make_loader="partial:loader-same-order")
    .base("own_order")
    .edit(
        "self.n, self.rng = n, np.random.default_rng(seed)",
        "self.n, self.order = n, np.random.default_rng(seed).permutation(n)",
    )
    .edit("self.rng.permutation(self.n).tolist()", "self.order.tolist()"),
    Wrong("wrong_loader_drops", "drop_last.")
    .expect(test_make_loader="failed:loader-drops-the-last-batch")
    .breaks("the last batch holds the rest")
    .edit("shuffle=True, ", "shuffle=True, drop_last=True, "),
    Wrong("wrong_loader_with_replacement", "Drawn with replacement.")
    .expect(test_make_loader="failed:loader-items-not-once")
    .base("own_order")
    .edit("self.rng.permutation(self.n).tolist()", "self.rng.integers(0, self.n, self.n).tolist()"),
    Wrong("wrong_loader_order_without_seed", "An order from nowhere.")
    .expect(test_make_loader="partial:loader-order-without-seed")
    .base("own_order")
    .edit("np.random.default_rng(seed)\n\n    def __len__", "np.random.default_rng()\n\n    def __len__"),
    Wrong("wrong_loader_numbers_without_seed", "Generators from nowhere in the workers.")
    .expect(test_make_loader="partial:loader-numbers-without-seed")
    .breaks("Random numbers and order follow the seed")
    .edit("np.random.default_rng(torch.initial_seed())", "np.random.default_rng()"),
    Wrong("wrong_loader_main_process_as_it_was", "Without workers the data set keeps the generator that it has.")
    .expect(test_make_loader="partial:loader-numbers-ignore-the-seed")
    .edit("    dataset.rng = np.random.default_rng([seed, 1])\n", ""),
    Wrong("wrong_loader_order_ignores_seed", "Always the same generator for the order.")
    .expect(test_make_loader="partial:loader-order-ignores-the-seed")
    .base("own_order")
    .edit("np.random.default_rng(seed)\n\n    def __len__", "np.random.default_rng(0)\n\n    def __len__"),
    Wrong("wrong_loader_no_generator", "torch's global generator, seeded.")
    .expect(test_make_loader="partial:loader-touches-global-generators")
    .edit("g = torch.Generator()\n    g.manual_seed(seed)", "g = None\n    torch.manual_seed(seed)"),
    Wrong("wrong_loader_base_seed", "An order of its own, but the loader draws its seed from the global generator.")
    .expect(test_make_loader="partial:loader-touches-global-generators")
    .base("own_order")
    .edit("generator=torch.Generator().manual_seed(seed), ", ""),
    Wrong("wrong_loader_one_worker", "Never more than one worker.")
    .expect(test_make_loader="partial:loader-workers-ignored")
    .edit("num_workers=num_workers, ", "num_workers=min(num_workers, 1), "),
    Wrong("wrong_loader_prefetch", "PyTorch's own default.")
    .expect(test_make_loader="partial:loader-prefetch-ignored")
    .breaks("Each worker prepares `prefetch` batches ahead")
    .edit("prefetch_factor=prefetch", "prefetch_factor=2 if num_workers else None"),
    Wrong("wrong_loader_prefetch_without_workers", "The factor is always handed over.")
    .expect(test_make_loader="failed:loader-prefetch-without-workers")
    .breaks("nothing is prepared ahead")
    .edit("    if num_workers == 0:\n        prefetch = None\n", ""),
    Wrong("wrong_loader_list", "A list of batches, made at once.")
    .expect(test_make_loader="partial:loader-same-order")
    .breaks("which returns a `DataLoader`")
    .edit("return DataLoader", "loader = DataLoader")
    .edit("prefetch_factor=prefetch)", "prefetch_factor=prefetch)\n    return list(loader)"),
    Wrong("wrong_loader_seed_once", "A later epoch of a second loader goes on where the first one stopped.")
    .expect(test_make_loader="partial:loader-order-without-seed")
    .breaks("give the same batches in the first epoch")
    .edit("def make_loader(dataset", "SHARED = {}\n\n\ndef make_loader(dataset")
    .edit(
        "g = torch.Generator()\n    g.manual_seed(seed)",
        "g = SHARED.setdefault(seed, torch.Generator().manual_seed(seed))",
    ),
    Wrong("wrong_loader_sum_of_seed_epoch_worker", "seed + epoch + worker.")
    .expect(test_make_loader="partial:loader-seeds-overlap")
    .breaks("Two items never get the same random numbers")
    .whole("""
class EpochLoader(DataLoader):
    def __init__(self, dataset, seed, **options):
        self.seed = seed
        self.epoch = -1
        super().__init__(dataset, worker_init_fn=self.seed_worker, **options)

    def rng_for(self, worker):
        return np.random.default_rng(self.seed + self.epoch + worker)

    def seed_worker(self, worker):
        get_worker_info().dataset.rng = self.rng_for(worker)

    def __iter__(self):
        self.epoch += 1
        if self.num_workers == 0:
            self.dataset.rng = self.rng_for(0)
        return super().__iter__()


def make_loader(dataset, batch_size, num_workers, seed, prefetch=2):
    options = dict(batch_size=batch_size, shuffle=True, num_workers=num_workers, drop_last=False)
    options["generator"] = torch.Generator().manual_seed(seed)
    if num_workers > 0:
        options["prefetch_factor"] = prefetch
    return EpochLoader(dataset, seed, **options)
"""),
    Wrong("wrong_loader_sum_of_pass_and_worker", "The number of passes so far and that of the worker, added up.")
    .expect(test_make_loader="partial:loader-seeds-overlap")
    .base("own_order")
    .edit(
        "self.n, self.rng = n, np.random.default_rng(seed)",
        "self.n, self.rng, self.passes = n, np.random.default_rng(seed), 0",
    )
    .edit("        return iter(", "        self.passes += 1\n        return iter(")
    .edit(
        "numbers = np.random.SeedSequence(seed).spawn(2)",
        "numbers = np.random.SeedSequence(seed).spawn(2)\n    passes = Order(len(dataset), order)",
    )
    .edit("(get_worker_info().seed, seed)", "[seed, passes.passes + worker]")
    .edit("sampler=Order(len(dataset), order)", "sampler=passes"),
    Wrong("wrong_loader_shuffles_batches", "The order of the batches is random, and each holds neighbors.")
    .expect(test_make_loader="partial:loader-shuffles-batches")
    .breaks("The order is random, and another one in each epoch")
    .base("own_order")
    .edit("def __init__(self, n, seed):", "def __init__(self, n, seed, size):\n        self.size = size")
    .edit(
        "return iter(self.rng.permutation(self.n).tolist())",
        "blocks = [range(k, min(k + self.size, self.n)) for k in range(0, self.n, self.size)]\n"
        "        last = blocks.pop() if self.n % self.size else []\n"
        "        return iter([i for k in self.rng.permutation(len(blocks)) for i in blocks[k]] + list(last))",
    )
    .edit("Order(len(dataset), order)", "Order(len(dataset), order, batch_size)"),
    Wrong("wrong_loader_random_state", "The old RandomState, which has no `integers`.")
    .expect(test_make_loader="partial:loader-rng-is-no-generator")
    .breaks("You may set `dataset.rng` to a new generator")
    .edit("dataset.rng = np.random.default_rng([seed, 1])", "dataset.rng = np.random.RandomState(seed)")
    .edit(FRESH, "get_worker_info().dataset.rng = np.random.RandomState(torch.initial_seed() % 2**32)"),
]
