"""Weights carried from one framework to the other give the same outputs and gradients: each is the other's oracle."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from course_lib import parity
from tests.when_used import when_used

torch = when_used("torch")
keras = when_used("keras")
tf = when_used("tensorflow")
pytestmark = pytest.mark.slow


LAYERS = {
    "dense": lambda nn, of: (nn.Linear(3, 4), of.Dense(4), None, (2, 3)),
    "dense without bias": lambda nn, of: (nn.Linear(3, 4, bias=False), of.Dense(4, use_bias=False), None, (2, 3)),
    "convolution": lambda nn, of: (nn.Conv2d(3, 4, (3, 2)), of.Conv2D(4, (3, 2)), "images", (2, 6, 5, 3)),
    "in groups": lambda nn, of: (nn.Conv2d(4, 6, 3, groups=2), of.Conv2D(6, 3, groups=2), "images", (2, 6, 5, 4)),
    "convolution over a line": lambda nn, of: (nn.Conv1d(3, 4, 3), of.Conv1D(4, 3), "images", (2, 6, 3)),
    "convolution in space": lambda nn, of: (nn.Conv3d(2, 3, 2), of.Conv3D(3, 2), "images", (1, 4, 3, 5, 2)),
    "depthwise": lambda nn, of: (
        nn.Conv2d(3, 6, 3, groups=3), of.DepthwiseConv2D(3, depth_multiplier=2), "images", (2, 6, 5, 3)),
    "transposed": lambda nn, of: (
        nn.ConvTranspose2d(3, 4, (3, 2), stride=2), of.Conv2DTranspose(4, (3, 2), strides=2), "images", (2, 6, 5, 3)),
    "batch norm": lambda nn, of: (
        nn.BatchNorm2d(3).eval(), of.BatchNormalization(epsilon=1e-5), "images", (2, 6, 5, 3)),
    "layer norm": lambda nn, of: (nn.LayerNorm(3), of.LayerNormalization(epsilon=1e-5), None, (2, 3)),
    "simple recurrent": lambda nn, of: (
        nn.RNN(3, 4, batch_first=True), of.SimpleRNN(4, return_sequences=True), "first", (2, 5, 3)),
    "LSTM": lambda nn, of: (nn.LSTM(3, 4, batch_first=True), of.LSTM(4, return_sequences=True), "first", (2, 5, 3)),
    "GRU": lambda nn, of: (nn.GRU(3, 4, batch_first=True), of.GRU(4, return_sequences=True), "first", (2, 5, 3)),
}  # fmt: skip


@pytest.fixture(params=LAYERS, name="pair")
def _pair(request: pytest.FixtureRequest) -> tuple[Any, Any, Any, np.ndarray]:
    """A torch layer with random weights, a built Keras layer, how to run the first, an input with channels last."""
    torch.manual_seed(0)
    one, other, how, shape = LAYERS[request.param](torch.nn, keras.layers)
    x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    other.build(shape)
    with torch.no_grad():
        for tensor in (*one.parameters(), *(b for b in one.buffers() if b.is_floating_point())):
            tensor.copy_(torch.rand(tensor.shape) + 0.1)
    return one, other, how, x


def _run_torch(layer: Any, how: str | None, x: np.ndarray) -> Any:
    given = torch.from_numpy(x)
    result = layer(given.movedim(-1, 1) if how == "images" else given)
    return {"images": lambda y: y.movedim(1, -1), "first": lambda y: y[0]}.get(how or "", lambda y: y)(result)


def test_a_layer_computes_the_same_after_copying_either_way(pair: Any) -> None:
    one, other, how, x = pair
    parity.copy(one, other)
    wanted = _run_torch(one, how, x)
    assert parity.compare({"torch": wanted, "Keras": other(x)})
    with torch.no_grad():
        for parameter in one.parameters():
            parameter.zero_()
    parity.copy(other, one)
    assert parity.compare({"torch": wanted, "Keras": _run_torch(one, how, x)})


def test_gradients_have_the_same_names_and_values(pair: Any) -> None:
    one, other, how, x = pair
    parity.copy(one, other)
    (_run_torch(one, how, x) ** 2).mean().backward()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(other(x) ** 2)
    gradients = tape.gradient(loss, other.trainable_variables)
    agreement = parity.compare({"torch": parity.read_gradients(one), "Keras": parity.read_gradients(other, gradients)})
    assert agreement, str(agreement)
    assert {row.name for row in agreement.rows} <= parity.read(one).keys()


def test_an_embedding_too_though_its_gradient_is_sparse() -> None:
    one, other = torch.nn.Embedding(7, 3), keras.layers.Embedding(7, 3)
    other.build((2, 4))
    words = np.array([[1, 2, 2, 6], [0, 1, 1, 1]])
    parity.copy(one, other)
    result = one(torch.from_numpy(words))
    (result**2).sum().backward()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(other(words) ** 2)
    gradients = tape.gradient(loss, other.trainable_variables)
    assert parity.compare({"torch": result, "Keras": other(words)})
    assert parity.compare({"torch": parity.read_gradients(one), "Keras": parity.read_gradients(other, gradients)})


def _networks() -> tuple[Any, Any]:
    nn, of = torch.nn, keras.layers
    one = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Sequential(nn.Linear(144, 10)))
    other = keras.Sequential([of.Conv2D(4, 3, activation="relu"), of.Flatten(), keras.Sequential([of.Dense(10)])])
    other.build((None, 8, 8, 1))
    return one, other


def test_a_network_has_one_set_of_names_a_shared_layer_counts_once_and_the_rows_after_flattening_can_be_reordered() -> (
    None
):
    one, other = _networks()
    weights = parity.read(one)
    assert list(weights) == ["0.kernel", "0.bias", "1.kernel", "1.bias"] == list(parity.read(other))
    x = np.random.default_rng(0).normal(size=(2, 8, 8, 1)).astype(np.float32)
    wanted = one(torch.from_numpy(x).movedim(-1, 1))
    parity.write(other, weights)
    assert not parity.compare({"torch": wanted, "Keras": other(x)}), "the two flatten in another order"
    moved = parity.channels_last_rows(weights["1.kernel"], (4, 6, 6))
    parity.write(other, {**weights, "1.kernel": moved})
    assert parity.compare({"torch": wanted, "Keras": other(x)})
    assert np.array_equal(parity.channels_first_rows(moved, (4, 6, 6)), weights["1.kernel"])
    shared = torch.nn.Linear(3, 3)
    assert list(parity.read(torch.nn.Sequential(shared, torch.nn.ReLU(), shared))) == ["0.kernel", "0.bias"]


def test_variables_and_arrays_by_name_are_a_model() -> None:
    numpy = {"kernel": np.ones((3, 2)), "bias": np.arange(2.0)}
    variables = {name: tf.Variable(tf.zeros(array.shape, tf.float64)) for name, array in numpy.items()}
    layer = torch.nn.Linear(3, 2).double()
    parity.copy(numpy, variables)
    parity.copy(variables, layer)
    assert layer.bias.tolist() == [0, 1] and parity.read(layer)["kernel"].shape == (3, 2)
    layer(torch.ones(1, 3, dtype=torch.float64)).sum().backward()
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.ones((1, 3), tf.float64) @ variables["kernel"] + variables["bias"])
    gradients = parity.read_gradients(variables, tape.gradient(loss, list(variables.values())))
    assert parity.compare({"torch": parity.read_gradients(layer), "TensorFlow": gradients})


def test_what_does_not_fit_is_refused_by_name_and_nothing_is_written() -> None:
    layer, norm = torch.nn.Linear(3, 2), keras.layers.BatchNormalization()
    before = parity.read(layer)
    with pytest.raises(
        ValueError, match=r"kernel is \(3, 2\) in the model and \(2, 3\) in the weights; one is the other"
    ):
        parity.write(layer, {"bias": np.zeros(2), "kernel": np.zeros((2, 3))})
    with pytest.raises(ValueError, match="the model has kernel that the weights lack, and lacks weight of theirs"):
        parity.write(layer, {"bias": np.zeros(2), "weight": np.zeros((3, 2))})
    assert all(np.array_equal(before[name], array) for name, array in parity.read(layer).items())
    norm.build((2, 3))
    with pytest.raises(ValueError, match=r"layer 0 adds epsilon 1e-05 in the source and 0\.001 in the target"):
        parity.copy(torch.nn.BatchNorm1d(3), norm)
    with pytest.raises(ValueError, match="1 gradients for 4 trainable variables"):
        parity.read_gradients(_networks()[1], [None])


def test_weights_of_an_unknown_kind_are_refused_rather_than_left_out() -> None:
    class Own(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scale = torch.nn.Parameter(torch.ones(3))

    with pytest.raises(TypeError, match=r"Own has weights of its own \(scale\) and is of no kind known here"):
        parity.read(torch.nn.Sequential(torch.nn.Linear(3, 3), Own()))
    with pytest.raises(TypeError, match="with several layers or two directions"):
        parity.read(torch.nn.LSTM(3, 4, num_layers=2))


@pytest.mark.parametrize(("dtype", "off", "agrees"), [
    (np.float64, 1e-10, True), (np.float64, 1e-8, False), (np.float32, 5e-5, True), (np.float32, 1e-3, False),
    (np.float16, 5e-3, True), (np.float16, 5e-2, False),
])  # fmt: skip
def test_a_dtype_decides_how_far_off_is_equal(dtype: Any, off: float, agrees: bool) -> None:
    """Off by a share of the value itself, which is below what the float64 and float32 rows forbid."""
    wanted = np.ones(3, dtype)
    got = (wanted.astype(np.float64) * (1 + off)).astype(dtype)
    assert bool(parity.compare({"one": wanted, "other": got})) is agrees


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_the_tolerance_that_is_told_is_the_one_that_is_kept(dtype: str) -> None:
    relative, scaled, floor = parity.tolerance(dtype)
    allowed = relative + scaled + floor  # at the value 1, which is also the largest
    wanted = np.ones(1, dtype)
    for share in (0.5, 2.0):
        [row] = parity.compare({"one": wanted, "other": np.array([1 + share * allowed], dtype)}).rows
        assert row.share == pytest.approx(share, rel=0.2)
        assert row.agrees is (share < 1)


def test_a_nan_on_one_side_never_agrees_and_on_both_sides_does() -> None:
    for odd in (np.nan, np.inf):
        assert not parity.compare({"one": np.array([1.0, 2.0]), "other": np.array([1.0, odd])})
    assert parity.compare({"one": np.array([np.nan, np.inf]), "other": np.array([np.nan, np.inf])})


def test_the_table_names_the_place_and_says_what_is_different() -> None:
    grads = {"NumPy": np.ones(3), "JAX": np.array([1.0, 1.0, 1.5])}
    agreement = parity.compare({name: {"loss": 1.0, "grad": grad} for name, grad in grads.items()})
    assert not agreement and agreement.worst.name == "grad"
    assert "against NumPy" in str(agreement) and "times: DIFFERENT" in str(agreement).splitlines()[2]
    assert agreement._repr_html_().count("<tr>") == 3


def test_results_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(ValueError, match="two frameworks or more"):
        parity.compare({"NumPy": 1.0})
    with pytest.raises(ValueError, match=r"shape \(3, 1\) in JAX and \(3,\) in the reference"):
        parity.compare({"NumPy": np.ones(3), "JAX": np.ones((3, 1))})
    with pytest.raises(ValueError, match="NumPy alone has loss, JAX alone has nothing"):
        parity.compare({"NumPy": {"loss": 1.0}, "JAX": {}})
