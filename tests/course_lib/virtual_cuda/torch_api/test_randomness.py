"""Seeds, generators and their states on the virtual devices."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import lazy, torch

scrambled = lazy("course_lib.virtual_cuda.torch_api.randomness", "scrambled")

pytestmark = pytest.mark.slow

DRAWS: dict[str, Callable[[Any, Any], torch.Tensor]] = {
    "rand": lambda d, g: torch.rand(50, device=d, generator=g),
    "randn": lambda d, g: torch.randn(50, device=d, generator=g),
    "randint": lambda d, g: torch.randint(0, 1000, (50,), device=d, generator=g),
    "randperm": lambda d, g: torch.randperm(50, device=d, generator=g),
    "normal": lambda d, g: torch.normal(0.0, 1.0, (50,), device=d, generator=g),
    "normal_": lambda d, g: torch.empty(50, device=d).normal_(generator=g),
    "uniform_": lambda d, g: torch.empty(50, device=d).uniform_(generator=g),
    "exponential_": lambda d, g: torch.empty(50, device=d).exponential_(generator=g),
    "random_": lambda d, g: torch.empty(50, device=d).random_(generator=g),
    "bernoulli": lambda d, g: torch.bernoulli(torch.full((50,), 0.5, device=d), generator=g),
    "multinomial": lambda d, g: torch.multinomial(torch.ones(50, device=d), 40, generator=g),
    "init": lambda d, g: torch.nn.init.xavier_uniform_(torch.empty(5, 5, device=d), generator=g),
}


@pytest.mark.parametrize("draw", DRAWS)
def test_a_generator_of_the_device_draws_the_same_again_but_not_the_cpu_s(draw: str, cuda: Any) -> None:
    call = DRAWS[draw]
    generator = torch.Generator(device="cuda").manual_seed(7)
    one, two = call("cuda", generator), call("cuda", generator)
    again = call("cuda", torch.Generator(device="cuda").manual_seed(7))
    assert one.is_cuda and torch.equal(one, again) and not torch.equal(one, two)
    assert not torch.equal(one.cpu(), call("cpu", torch.Generator().manual_seed(7)))


@pytest.mark.parametrize("draw", DRAWS)
def test_a_generator_of_the_other_device_is_refused(draw: str, cuda: Any) -> None:
    with pytest.raises(RuntimeError, match="Expected a 'cuda' device type for generator but found 'cpu'"):
        DRAWS[draw]("cuda", torch.Generator())
    with pytest.raises(RuntimeError, match="Expected a 'cpu' device type for generator but found 'cuda'"):
        DRAWS[draw]("cpu", torch.Generator("cuda"))


@pytest.mark.parametrize("draw", DRAWS)
def test_the_same_numbers_are_the_cpu_s(draw: str) -> None:
    call = DRAWS[draw]
    with virtual_cuda.session(same_numbers=True, force=True, quiet=True):
        one = call("cuda", torch.Generator("cuda").manual_seed(7))
        assert torch.equal(one.cpu(), call("cpu", torch.Generator().manual_seed(7)))


def test_seeding_torch_seeds_the_devices(cuda: Any) -> None:
    torch.manual_seed(3)
    first = [torch.rand(4, device=f"cuda:{i}") for i in (0, 1)]
    torch.manual_seed(3)
    assert torch.equal(first[0], torch.rand(4, device="cuda:0"))
    assert torch.equal(first[0].cpu(), first[1].cpu())
    torch.manual_seed(3)
    assert not torch.equal(first[0].cpu(), torch.rand(4))
    assert torch.cuda.initial_seed() == 3
    torch.cuda.manual_seed(3)
    assert torch.equal(first[0], torch.rand(4, device="cuda"))
    torch.cuda.manual_seed_all(3)
    assert torch.equal(first[1], torch.rand(4, device="cuda:1"))


def test_the_device_does_not_disturb_the_cpu_s_numbers(cuda: Any) -> None:
    torch.manual_seed(3)
    expected = torch.rand(4)
    torch.manual_seed(3)
    torch.rand(100, device="cuda")
    torch.nn.functional.dropout(torch.ones(100, device="cuda"))
    torch.cuda.manual_seed(8)
    assert torch.equal(torch.rand(4), expected)


def test_a_seed_at_random_is_another_each_time(cuda: Any) -> None:
    torch.cuda.seed()
    one = torch.cuda.initial_seed()
    torch.cuda.seed_all()
    assert torch.cuda.initial_seed() != one
    with torch.cuda.device(1):
        two = torch.cuda.initial_seed()
    assert two == torch.cuda.initial_seed()


def test_states_are_saved_and_restored(cuda: Any) -> None:
    states = torch.cuda.get_rng_state_all()
    assert [s.device.type for s in states] == ["cpu", "cpu"] and states[0].dtype is torch.uint8
    before = torch.rand(4, device="cuda"), torch.rand(4, device="cuda:1")
    torch.cuda.set_rng_state_all(states)
    assert torch.equal(before[0], torch.rand(4, device="cuda"))
    torch.cuda.set_rng_state(states[1], "cuda:1")
    assert torch.equal(before[1], torch.rand(4, device="cuda:1"))
    with pytest.raises(RuntimeError, match="RNG state is wrong size"):
        torch.cuda.set_rng_state(torch.get_rng_state())
    with pytest.raises(TypeError, match=r"must be a torch\.ByteTensor"):
        torch.cuda.set_rng_state(states[0].cuda())


def test_the_cpus_state_is_not_taken_from_a_device(cuda: Any) -> None:
    state = torch.get_rng_state()
    for set_rng_state in (torch.set_rng_state, torch.random.set_rng_state):
        with pytest.raises(TypeError, match=r"must be a torch\.ByteTensor"):
            set_rng_state(state.cuda())
        set_rng_state(state.cuda().cpu())
    with torch.random.fork_rng():
        torch.rand(3)
    assert torch.equal(torch.get_rng_state(), state)


def test_a_state_saved_on_a_real_gpu_is_taken(cuda: Any) -> None:
    real = torch.tensor([9, *[0] * 7, 16, *[0] * 7], dtype=torch.uint8)
    torch.cuda.set_rng_state(real)
    one = torch.rand(4, device="cuda")
    torch.cuda.set_rng_state(real)
    assert torch.equal(one, torch.rand(4, device="cuda")) and torch.cuda.initial_seed() == 9
    assert torch.cuda._get_rng_state_offset() == 16


def test_a_fork_of_the_generators_leaves_them_as_they_were(cuda: Any) -> None:
    with torch.random.fork_rng(devices=[0, 1]):
        inside = torch.rand(4, device="cuda"), torch.rand(4)
    assert torch.equal(inside[0], torch.rand(4, device="cuda")) and torch.equal(inside[1], torch.rand(4))


def test_generators_know_their_device_and_type(cuda: Any) -> None:
    one = torch.Generator("cuda:1")
    assert one.device == torch.device("cuda:1") and torch.Generator().device.type == "cpu"
    assert isinstance(one, torch.Generator) and isinstance(torch.default_generator, torch.Generator)
    assert torch.Generator(device=torch.device("cuda")).device == torch.device("cuda:0")
    assert torch.cuda.default_generators[1].device == torch.device("cuda:1")


def test_generators_are_copied_and_pickled_in_their_state(cuda: Any) -> None:
    one = torch.Generator("cuda:1").manual_seed(5)
    torch.rand(3, device="cuda:1", generator=one)
    copies = copy.deepcopy(one), pickle.loads(pickle.dumps(one)), one.clone_state()
    expected = torch.rand(3, device="cuda:1", generator=one)
    for other in copies:
        assert other.device == one.device
        assert torch.equal(torch.rand(3, device="cuda:1", generator=other), expected)


def test_numbers_are_spread_as_they_should_be(cuda: Any) -> None:
    torch.manual_seed(0)
    assert len({scrambled(seed) % (1 << 32) for seed in range(10_000)}) > 9_990, "neighboring seeds are apart"
    x = torch.randn(100_000, device="cuda")
    assert abs(float(x.mean())) < 0.02 and abs(float(x.std()) - 1) < 0.02
    means = torch.stack(
        [torch.randn(1000, device="cuda", generator=torch.Generator("cuda").manual_seed(s)).mean() for s in range(100)]
    )
    assert 0.7 < float(means.std()) * 1000**0.5 < 1.3
