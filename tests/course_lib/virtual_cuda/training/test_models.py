"""One torchvision model per family, and the layers that models are made of, train with the CPU's numbers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from course_lib import virtual_cuda
from tests.course_lib.virtual_cuda.lazy import Tensor, lazy, nn, torch
from tests.course_lib.virtual_cuda.same_numbers import as_on_the_cpu
from tests.sampling import sample

rnn = lazy("torch.nn.utils.rnn")

pytestmark = pytest.mark.slow

CLASSES = 3
WATCHED = 1e-5
"""of the largest number: by so much may two ways of torch's C++ to the same result differ"""


def vgg(models: Any) -> nn.Module:
    """Few channels, and a small head instead of the 120 million weights that the constructor insists on."""
    with torch.device("meta"):
        model = models.VGG(models.vgg.make_layers([8, "M", 8, "M", 16, "M", 16, "M", 512], batch_norm=True))
    model.classifier = nn.Sequential(nn.Linear(512 * 49, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, CLASSES))
    model.to_empty(device="cpu")
    for module in model.modules():
        if hasattr(module, "reset_parameters"):
            module.reset_parameters()
    return model


def _small(models: Any, family: str) -> nn.Module:
    """The smallest model of a family that its constructor makes."""
    resnet = functools.partial(models.ResNet, num_classes=CLASSES, width_per_group=8)
    bottleneck = models.resnet.Bottleneck
    made: dict[str, Callable[[], nn.Module]] = {
        "alexnet": lambda: models.alexnet(num_classes=CLASSES),
        "vgg": lambda: vgg(models),
        "resnet": lambda: models.ResNet(models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=CLASSES),
        "resnext": lambda: resnet(bottleneck, [1, 1, 1, 1], groups=4),
        "wide resnet": lambda: resnet(bottleneck, [1, 1, 1, 1], width_per_group=32),
        "squeezenet": lambda: models.squeezenet1_1(num_classes=CLASSES),
        "densenet": lambda: models.DenseNet(4, (2, 2, 2, 2), 8, num_classes=CLASSES, drop_rate=0.1),
        "densenet, checkpointed": lambda: models.DenseNet(
            4, (2, 2, 2, 2), 8, num_classes=CLASSES, memory_efficient=True
        ),
        "inception": lambda: models.inception_v3(num_classes=CLASSES, init_weights=False),
        "googlenet": lambda: models.googlenet(num_classes=CLASSES, init_weights=False),
        "shufflenet": lambda: models.ShuffleNetV2([1, 1, 1], [8, 16, 16, 32, 32], num_classes=CLASSES),
        "mobilenet v2": lambda: models.mobilenet_v2(num_classes=CLASSES, width_mult=0.25),
        "mobilenet v3": lambda: models.mobilenet_v3_small(num_classes=CLASSES, width_mult=0.25),
        "mnasnet": lambda: models.MNASNet(0.25, num_classes=CLASSES),
        "efficientnet": lambda: models.EfficientNet(
            [
                models.efficientnet.MBConvConfig(1, 3, 1, 8, 8, 1),
                models.efficientnet.FusedMBConvConfig(2, 3, 2, 8, 16, 2),
                models.efficientnet.MBConvConfig(4, 5, 2, 16, 16, 2),
            ],
            dropout=0.2,
            num_classes=CLASSES,
        ),
        "regnet": lambda: models.RegNet(
            models.regnet.BlockParams.from_init_params(depth=4, w_0=8, w_a=8.0, w_m=2.0, group_width=8, se_ratio=0.25),
            num_classes=CLASSES,
        ),
        "vit": lambda: models.VisionTransformer(16, 8, 2, 2, 16, 32, dropout=0.1, num_classes=CLASSES),
        "convnext": lambda: models.ConvNeXt(
            [models.convnext.CNBlockConfig(8, 16, 2), models.convnext.CNBlockConfig(16, None, 1)],
            stochastic_depth_prob=0.3,
            num_classes=CLASSES,
        ),
        "swin": lambda: models.SwinTransformer([2, 2], 8, [2, 2], [1, 2], [4, 4], num_classes=CLASSES),
        "swin v2": lambda: models.SwinTransformer(
            *([2, 2], 8, [2, 2], [1, 2], [4, 4]),
            num_classes=CLASSES,
            block=models.swin_transformer.SwinTransformerBlockV2,
            downsample_layer=models.swin_transformer.PatchMergingV2,
        ),
        "maxvit": lambda: models.MaxVit((32, 32), 8, 4, [8, 16], [1, 1], 8, 0.2, num_classes=CLASSES),
    }
    return made[family]()


FAMILIES = (
    *("alexnet", "vgg", "resnet", "resnext", "wide resnet", "squeezenet", "densenet", "densenet, checkpointed"),
    *("inception", "googlenet", "shufflenet", "mobilenet v2", "mobilenet v3", "mnasnet", "efficientnet", "regnet"),
    *("vit", "convnext", "swin", "swin v2", "maxvit"),
)


@pytest.mark.parametrize("family", sample("torchvision", FAMILIES, 1))
@as_on_the_cpu
def test_two_training_steps_of_a_torchvision_model(device: str, family: str) -> Any:
    models = pytest.importorskip("torchvision.models")
    model = _small(models, family).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, foreach=True)
    side = {"alexnet": 63, "inception": 299, "vit": 16}.get(family, 32)  # small and legal
    losses = []
    for _ in range(2):
        images = torch.randn(2, 3, side, side).to(device)
        labels = torch.randint(CLASSES, (2,), device=device)
        out = model(images)
        heads = [h for h in out if h is not None] if isinstance(out, tuple) else [out]
        loss = sum(nn.functional.cross_entropy(head, labels) for head in heads)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    assert all(map(torch.isfinite, losses))
    model.eval()
    with torch.no_grad():
        answer = model(torch.randn(1, 3, side, side, device=device))
    return losses, answer, list(model.parameters()), list(model.buffers())


def trained(model: nn.Module, inputs: Sequence[Any], device: str, outputs: Callable[[Any], Tensor]) -> Any:
    """Two steps, then the model's word in eval mode with and without gradients: everything that came of it."""
    model.to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, foreach=True)
    for _ in range(2):
        optimizer.zero_grad()
        loss = outputs(model(*inputs)).square().mean()
        loss.backward()
        optimizer.step()
    gradients = [p.grad for p in model.parameters() if p.grad is not None]
    model.eval()
    answers = [outputs(model(*inputs))]
    with torch.no_grad():
        answers.append(outputs(model(*inputs)))
    with torch.inference_mode():
        answers.append(outputs(model(*inputs)).clone())
    return loss, gradients, list(model.parameters()), list(model.buffers()), answers


def first(out: Any) -> Tensor:
    """The output itself, of those that return states too."""
    return out[0] if isinstance(out, tuple) else out


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("settings", [{}, {"num_layers": 2, "bidirectional": True, "dropout": 0.3}])
@pytest.mark.parametrize("batch_first", [False, True])
@as_on_the_cpu(watched=WATCHED)
def test_recurrent_layers(device: str, kind: str, settings: dict[str, Any], batch_first: bool) -> Any:
    return trained(
        getattr(nn, kind)(3, 4, batch_first=batch_first, **settings), [torch.randn(5, 2, 3).to(device)], device, first
    )


@as_on_the_cpu
def test_an_lstm_with_a_projection_and_given_states(device: str) -> Any:
    states = torch.randn(1, 2, 3, device=device), torch.randn(1, 2, 5, device=device)
    inputs = [torch.randn(4, 2, 3, device=device), states]
    return trained(nn.LSTM(3, 5, proj_size=3), inputs, device, lambda out: out[0].sum() + out[1][1])


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("enforce_sorted", [True, False])
@as_on_the_cpu
def test_packed_sequences(device: str, kind: str, enforce_sorted: bool) -> Any:
    lengths = torch.tensor([4, 3, 1] if enforce_sorted else [1, 4, 3])
    packed = rnn.pack_padded_sequence(
        torch.randn(3, 4, 2, device=device), lengths, batch_first=True, enforce_sorted=enforce_sorted
    )
    padded, restored = rnn.pad_packed_sequence(packed, batch_first=True, padding_value=-1)
    assert restored.device.type == packed.batch_sizes.device.type == "cpu"
    assert packed.to("cpu").data.device.type == "cpu"
    assert packed.cpu().to(device).data.device.type == device
    assert torch.equal(restored, lengths)

    def outputs(out: Any) -> Tensor:
        return rnn.pad_packed_sequence(out[0], batch_first=True)[0]

    return padded, trained(getattr(nn, kind)(2, 3, bidirectional=True), [packed], device, outputs)


@as_on_the_cpu
def test_sequences_are_padded_and_packed_from_lists(device: str) -> Any:
    rows = [torch.randn(n, 2, device=device) for n in (3, 2, 1)]
    packed = rnn.pack_sequence(rows)
    return (
        rnn.pad_sequence(rows),
        packed.data,
        rnn.unpack_sequence(packed),
        rnn.unpad_sequence(rnn.pad_sequence(rows), torch.tensor([3, 2, 1])),
    )


@pytest.mark.parametrize("cell", ["RNNCell", "GRUCell", "LSTMCell"])
@as_on_the_cpu
def test_recurrent_cells(device: str, cell: str) -> Any:
    return trained(getattr(nn, cell)(3, 4), [torch.randn(2, 3, device=device)], device, first)


def test_lengths_on_the_device_are_refused() -> None:
    with virtual_cuda.session(quiet=True):
        inputs, lengths = torch.randn(4, 2, 3, device="cuda"), torch.tensor([4, 2], device="cuda")
        with pytest.raises(RuntimeError, match="'lengths' argument should be a 1D CPU int64 tensor"):
            rnn.pack_padded_sequence(inputs, lengths)


@pytest.mark.parametrize("need_weights", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@as_on_the_cpu(watched=WATCHED)
def test_multihead_attention(device: str, need_weights: bool, masked: bool) -> Any:
    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attend = nn.MultiheadAttention(8, 2, dropout=0.1, batch_first=True, add_bias_kv=not masked)

        def forward(self, x: Tensor) -> Any:
            options: dict[str, Any] = {}
            if masked:
                options["attn_mask"] = nn.Transformer.generate_square_subsequent_mask(5, device=x.device)
                options["key_padding_mask"] = torch.zeros(x.shape[:2], device=x.device).index_fill_(
                    1, torch.tensor([4], device=x.device), -torch.inf
                )
            return self.attend(x, x, x, need_weights=need_weights, **options)

    inputs = torch.randn(3, 5, 8, device=device)
    return trained(Attention(), [inputs], device, lambda out: out[0] + (out[1].sum() if need_weights else 0))


@pytest.mark.parametrize("norm_first", [False, True])
@pytest.mark.parametrize("padded", [False, True])
@as_on_the_cpu
def test_a_transformer_encoder_trains_and_takes_its_fast_path_in_eval(
    device: str, norm_first: bool, padded: bool
) -> Any:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True, norm_first=norm_first)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    mask = torch.tensor([[False] * 5, [False] * 3 + [True] * 2], device=device) if padded else None
    return trained(model, [torch.randn(2, 5, 8, device=device), None, mask], device, first)


@as_on_the_cpu(watched=WATCHED)
def test_a_transformer_with_a_decoder(device: str) -> Any:
    model = nn.Transformer(8, 2, 1, 1, 16, batch_first=True, activation="gelu")
    mask = nn.Transformer.generate_square_subsequent_mask(4, device=torch.device(device))
    inputs = [torch.randn(2, 5, 8, device=device), torch.randn(2, 4, 8, device=device), None, mask]
    return trained(model, inputs, device, first)


NORMS = {
    "batch, averaged": (lambda: nn.BatchNorm2d(4, momentum=None), (3, 4, 5, 5)),
    "lazy batch": (lambda: nn.LazyBatchNorm1d(), (3, 4)),
    "synchronized batch": (lambda: nn.SyncBatchNorm(4), (3, 4, 5)),
}


@pytest.mark.parametrize("name", NORMS)
@as_on_the_cpu
def test_normalization_layers(device: str, name: str) -> Any:
    make, shape = NORMS[name]
    if name == "synchronized batch" and device == "cpu":
        return trained(nn.Sequential(nn.Linear(5, 5), nn.BatchNorm1d(4)), [torch.randn(shape)], device, first)
    model = nn.Sequential(nn.Linear(shape[-1], shape[-1]), make()).to(device)
    inputs = torch.randn(shape, device=device)
    if name.startswith("lazy"):
        model(inputs)
    return trained(model, [inputs], device, first)


@as_on_the_cpu
def test_an_adaptive_softmax(device: str) -> Any:
    model = nn.AdaptiveLogSoftmaxWithLoss(6, 12, [3, 7]).to(device)
    out = model(torch.randn(5, 6, device=device), torch.tensor([0, 2, 4, 8, 11], device=device))
    out.loss.backward()
    return out.output, out.loss, [p.grad for p in model.parameters()]
