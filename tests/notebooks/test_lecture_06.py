"""Lecture 06 says what is so: every number and claim of its text is asked again here, in the lecture's own kernel.

`FACTS` maps a piece of the text, word for word, to an expression that must be true after the last cell. Numbers that
stand in no fact fail a test of their own. The exercises are solved here, rightly and wrongly, and their checks watched.
"""

# ruff: noqa: RUF001 - the lecture writes sizes with the multiplication sign

from __future__ import annotations

import ast
import textwrap
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.parametrize("ran", ["lectures/06_custom_modules.ipynb"], indirect=True)

FACTS = {
    # 1 A layer of your own
    "holds layers without weights as plain functions": "not isinstance(F.max_pool2d, nn.Module)",
    "Also in their numbers: `nn.Linear` starts from the same range, in the same order.": (
        "torch.allclose(ours.weight, theirs.weight) and torch.allclose(ours.bias, theirs.bias)"
    ),
    "The weight has shape (3, 4), outputs first": "ours.weight.shape == theirs.weight.shape == (3, 4)",
    "`wrapped`, and the two parameters *inside* `layer`.": (
        "[name for name, _ in Attic().named_parameters()] == ['wrapped', 'layer.weight', 'layer.bias']"
    ),
    "The bare tensor is missing, though it requires a gradient.": "Attic().bare.requires_grad",
    "`Mini` notes parameters and other `Mini`s, and nothing else.": "list(MiniNet().found) == ['first', 'second']",
    "Two names with dots, and again no `bare`.": (
        "[name for name, _ in MiniNet().named_parameters()] == ['first.weight', 'second.weight']"
    ),
    "With one more layer in the module the list would not be empty, and `weight` would stay at its first value": (
        "bare_beside_a_layer() == [2, True]"
    ),
    "`layer.weight = layer.weight - 0.1 * layer.weight.grad`, where `layer.weight` is a parameter": (
        "\"cannot assign 'torch.FloatTensor' as parameter 'weight'\" in raised(assign_a_result)"
    ),
    # 2 Two layers
    "1000 inputs, 100 hidden units and 10 outputs": (
        "[tuple(p.shape) for _, p in TwoLayerNet(1000, 100, 10).named_parameters()]"
        " == [(100, 1000), (100,), (10, 100), (10,)]"
    ),
    "The first, by 100,100 to 1,010: about a hundred times more. In total 101,110.": (
        "(size(two.first), size(two.second), size(two)) == (100_100, 1_010, 101_110)"
    ),
    "`first.weight`, `second.bias`": "{'first.weight', 'second.bias'} <= set(two.state_dict())",
    "found a loss of 30.09 with the same seed": "round(loss_of_02.item(), 2) == 30.09",
    "30.09 again. `net.double()` went down the tree and turned every parameter into float64.": (
        "{p.dtype for p in two.double().parameters()} == {torch.float64}"
    ),
    "`nn.Sequential(*layers)` takes a list of any length": "len(nn.Sequential(*[nn.ReLU() for _ in range(99)])) == 99",
    # 3 A block
    "1, 0, 0, 1: it says whether the signs agree.": "gate(corners).flatten().tolist() == [1, 0, 0, 1]",
    "For the input (3, 5) the branches give 3 and 5, and the block 15.": (
        "(gate.left(point).item(), gate.right(point).item(), gate(point).item()) == (3, 5, 15)"
    ),
    "Each branch receives the value of the *other*: 5 for the left, 3 for the right.": (
        "(gate.left.bias.grad.item(), gate.right.bias.grad.item()) == (5, 3)"
    ),
    '(`addmm` is PyTorch\'s name for "multiply by a matrix and add the bias"; `t` is the transposition': (
        "torch.equal(torch.addmm(theirs.bias, probe_x, theirs.weight.t()), theirs(probe_x))"
    ),
    "How many parameters has `Product(64, 32)`?": "size(Product(64, 32)) == 4160",
    "Two branches of 64 × 32 weights and 32 biases: 4,160.": "2 * (64 * 32 + 32) == size(stack[0]) == 4160",
    "With the second block (2,112) and the last layer (330) the stack has 6,602.": (
        "(size(stack[1]), size(stack[2]), size(stack)) == (2112, 330, 6602)"
    ),
    "1500 small images of digits for training and 297 held out, 8 × 8 pixels each": (
        "(tuple(x_train.shape), tuple(x_test.shape)) == ((1500, 8, 8), (297, 8, 8))"
    ),
    "the loss is the mean of $-\\log$ of the number for the right class": (
        "abs(F.cross_entropy(s10, y5) + s10.softmax(dim=1)[range(5), y5].log().mean()).item() < 1e-6"
    ),
    "More than 85 % of the held-out digits are right.": "stack_accuracy > 0.85",
    # 4 Images
    "The networks below are made for 28 × 28": "tuple(digits.shape) == (1500, 1, 28, 28)",
    "`nn.Conv2d(1, 32, 5)` slides 32 filters over the image, each of 5 × 5 weights": (
        "tuple(nn.Conv2d(1, 32, 5).weight.shape) == (32, 1, 5, 5)"
    ),
    "So 32 images come out.": "nn.Conv2d(1, 32, 5)(digits[:1]).shape == (1, 32, 24, 24)",
    "computes one of its numbers by hand: filter 0, at row 10 and column 7.": (
        "abs(conv(digits[:1])[0, 0, 10, 7] - by_hand).item() < 1e-6 and by_hand.abs().item() > 0.01"
    ),
    "half the width, half the height, no weights": "size(nn.MaxPool2d(2)) == 0",
    "A window of 5 fits into 28 pixels at 24 places, so a convolution makes 24 of 28, and pooling 12 of 24."
    " Once more: 8, then 4.": "[shape[-1] for _, shape in seen[:4]] == [24, 12, 8, 4]",
    "With 64 filters in the second convolution, 64 · 4 · 4 = 1024 numbers remain.": "convnet.fc.in_features == 1024",
    "so building, printing and counting all work: 62,346 parameters": "size(Misnamed()) == 62_346",
    "`fc1` is not among them, `fc` is.": (
        "[name for name, _ in misnamed.named_children()] == ['conv1', 'conv2', 'pool', 'fc']"
    ),
    "(`flatten(1)` lays all axes from number 1 on into one": "digits[:2].flatten(1).shape == (2, 784)",
    "Which of its three layers holds most of the 62,346 parameters?": "size(convnet) == 62_346",
    "`conv2`, with 51,264: each of its 64 filters reads 32 channels, so it has 32 · 5 · 5 weights and a bias.": (
        "size(convnet.conv2) == 51_264 == 64 * (32 * 5 * 5 + 1)"
        " and size(convnet.conv2) > size(convnet.conv1) + size(convnet.fc)"
    ),
    "The next cell gives the network 32 × 32 pixels": (
        "'(1x1600 and 1024x10)' in raised(lambda: convnet(torch.zeros(1, 1, 32, 32)))"
    ),
    '"1x1600 and 1024x10" are the two matrices of its product: 1600 numbers came, 1024 were expected.'
    " Factorise: 1600 = 64 · 5 · 5": "1600 == 64 * 5 * 5 and 1024 == 64 * 4 * 4",
    "now three sizes give ten scores each": (
        "[any_size(torch.zeros(1, 1, s, s)).shape == (1, 10) for s in (28, 32, 50)] == [True] * 3"
    ),
    'You give `convnet` a single image of shape (1, 28, 28), without the axis of the examples. The error says "mat1 and'
    ' mat2 shapes cannot be multiplied (64x16 and 1024x10)". Why 64x16?': (
        "'mat1 and mat2 shapes cannot be multiplied (64x16 and 1024x10)' in raised(lambda: convnet(digits[0]))"
    ),
    "took the 64 channels for 64 examples": "seen[3][1] == (64, 4, 4)",
    "What came out of the pooling was (64, 4, 4); from axis 1 on that is 16. The cure is `image[None]`": (
        "torch.zeros(64, 4, 4).flatten(1).shape == (64, 16) and convnet(digits[0][None]).shape == (1, 10)"
    ),
    "64 channels of 4 × 4, and 64 · 16 = 1024": "64 * 16 == 1024",
    "gives each channel count with the next: 1 and 32, then 32 and 64": (
        "list(pairwise((1, 32, 64))) == [(1, 32), (32, 64)]"
    ),
    "The first is `ConvNet` again, with 62,346.": "size(ConvNetOf()) == 62_346",
    "So only the last layer is registered: 10,250 parameters. The optimiser trains that one, and the loss falls.": (
        "size(listed) == 10_250 and listed_losses[-1] < listed_losses[0] - 0.4"
    ),
    "The convolutions keep their random first values.": "torch.equal(before, listed.convs[0].weight)",
    "The network from the list was right on more than 70 %": "accuracy(listed, digits_test, y_test) > 0.7",
    "After loading it guesses": "accuracy(again, digits_test, y_test) < 0.25",
    "layers in a list belong in `nn.ModuleList`": "accuracy(reloaded(registered), digits_test, y_test)"
    " == accuracy(registered, digits_test, y_test)",
    # 5 Hooks
    "Two: a hook runs at each call.": "[name for name, _ in seen[:5]] == ['conv1', 'pool', 'conv2', 'pool', 'fc']",
    "The jump from 64 × 4 × 4 to 10 hides the 1024 numbers in between.": (
        "[shape for _, shape in seen[3:5]] == [(64, 4, 4), (10,)]"
    ),
    "It counts one, and still one.": "after_call == len(calls) == 1",
    "three passes of five layers made 15 entries. After `remove`, a fourth pass added none": (
        "grown == len(seen) == 15"
    ),
    "A hook that returns a value *replaces* the result of the module": "replaced_by_a_hook() == 7",
    "· three times</summary>": "registered_three_times() == 3",
    "removes the hook at the end of the block": "hook_in_a_with_block() == [1, 1]",
    # 6 LeNet
    "6 and 16 channels, then layers of 120, 84 and 10": (
        "[right.conv1.out_channels, right.conv2.out_channels, right.fc1.out_features, right.fc2.out_features,"
        " right.fc3.out_features] == [6, 16, 120, 84, 10]"
    ),
    "(The original read 32 × 32 pixels; ours reads 28 × 28, so 16 · 4 · 4 numbers reach the first linear layer.)": (
        "right.fc1.in_features == 16 * 4 * 4"
    ),
    "what is returned belongs to the 84 hidden units": "wrong(digits[:5]).shape == (5, 84)",
    "An error about 84 and 10?": "right.fc3.in_features == 84 and right.fc3.out_features == 10",
    "It falls! 84 outputs are enough for ten labels": (
        "curves['wrong tensor'][-1] < curves['wrong tensor'][0] - 0.2 and"
        " 0.2 < accuracy(wrong, digits_test, y_test) < accuracy(right, digits_test, y_test) - 0.2"
    ),
    "No: 84 columns instead of 10.": "right(digits[:5]).shape == (5, 10)",
    "it gives each of ten classes about 1/10, and $-\\log \\frac{1}{10}$ is 2.303. Here it is 4.431, the log of 84.": (
        "round(np.log(10), 3) == 2.303 and round(curves['wrong tensor'][0], 3) == 4.431 == round(np.log(84), 3)"
        " and abs(curves['LeNet'][0] - np.log(10)) < 0.01"
    ),
    "`fc3` has none, since nothing that it computes reaches the loss": (
        "[name for name, p in wrong.named_parameters() if p.grad is None] == ['fc3.weight', 'fc3.bias']"
    ),
    "all three questions are content with it": (
        "twice(digits[:5]).shape == (5, 10) and abs(curves['softmax twice'][0] - np.log(10)) < 0.01"
        " and all(p.grad is not None for p in twice.parameters())"
    ),
    "1.4612, and no training gets below.": (
        "round(floor, 4) == 1.4612 and abs(floor + np.log(np.e / (np.e + 9))) < 1e-6"
        " and min(curves['softmax twice']) > floor"
    ),
    "It makes $e^1 / (e^1 + 9 e^0)$ of the 1, only 23 %.": "round(100 * np.e / (np.e + 9)) == 23",
    "The right one ends below 0.5.": "curves['LeNet'][-1] < 0.5",
    "Section 10 makes a tool of these questions.": "'six_questions' in dir()",
    "for a batch of 297 images": "len(digits_test) == 297",
    "another class may come out on top": (
        "bool((right(digits_test).softmax(dim=0).argmax(dim=1) != right(digits_test).argmax(dim=1)).any())"
    ),
    "The shape is right, too: (297, 10).": "right(digits_test).softmax(dim=0).shape == (297, 10)",
    "Filters 0, 2 and 5 answer to the stroke, filter 2 by far the most.": (
        "np.argsort([found.max().item() for found in maps])[::-1][0].item() == 2"
        " and maps[2].max().item() > 1.5 * max(maps[k].max().item() for k in (0, 1, 3, 4, 5))"
        " and all(like_the_image(k) > 0.8 > like_the_image(j) for k in (0, 2, 5) for j in (3, 4))"
    ),
    "Filters 3 and 4 answer to one edge of it, and a little to empty paper.": (
        "all(0 < maps[k][-1, 0].item() < maps[k].max().item() for k in (3, 4))"
        " and all(maps[k][-1, 0].item() == 0 for k in (0, 1))"
    ),
    "Filter 1 is silent for this digit.": "maps[1].max().item() == 0",
    # 7 The state
    "Read `fc2.weight`: (84, 120), so 84 outputs from 120 inputs. `fc3.weight` is (10, 84).": (
        "tuple(right.state_dict()['fc2.weight'].shape) == (84, 120)"
        " and tuple(right.state_dict()['fc3.weight'].shape) == (10, 84)"
    ),
    "`conv2.weight` is (16, 6, 5, 5): 16 filters, each with 5 × 5 weights for each of 6 channels.": (
        "tuple(right.state_dict()['conv2.weight'].shape) == (16, 6, 5, 5)"
    ),
    "In total 44,426 numbers.": "size(right) == 44_426",
    "The same to the last bit.": "torch.equal(restored()(digits_test), right(digits_test))",
    "Since PyTorch 2.6 `torch.load` refuses anything else unless you ask for it.": (
        "'Weights only load failed' in raised(load_a_whole_module)"
    ),
    "Near chance: the last layer kept its random values. `strict=False` returns a report": (
        "set(report.missing_keys) == {'head.weight', 'head.bias'}"
        " and set(report.unexpected_keys) == {'fc3.weight', 'fc3.bias'} and guessing < 0.25"
    ),
    "The cure is to rename the keys of the dictionary.": (
        "accuracy(renamed, digits_test, y_test) == accuracy(right, digits_test, y_test)"
    ),
    "The *new* weights. The dictionary points at the very tensors": (
        "best['fc3.bias'].data_ptr() == fresh.fc3.bias.data_ptr() and not torch.equal(best['fc3.bias'], right.fc3.bias)"
    ),
    "`copy.deepcopy` makes a copy that stays": "torch.equal(really_best['fc3.bias'], right.fc3.bias)",
    "a `Sequential` calls its layers 0, 1, 2": (
        "list(nn.Sequential(nn.Linear(1, 1), nn.ReLU(), nn.Linear(1, 1)).state_dict())"
        " == ['0.weight', '0.bias', '2.weight', '2.bias']"
    ),
    # 8 Buffers
    "The two numbers stand in the state as `0.mean` and `0.std`.": (
        "list(prepared.state_dict())[:2] == ['0.mean', '0.std'] and size(prepared[0]) == 0"
    ),
    "A parameter is all three. A buffer is saved and moved; a scratch buffer is moved only. A plain tensor is none": (
        "[[n in dict(four.named_parameters()), n in four.state_dict(), getattr(four, n).dtype is torch.float64]"
        " for n in ('parameter', 'buffer', 'scratch', 'plain')]"
        " == [[True] * 3, [False, True, True], [False, False, True], [False] * 3]"
    ),
    '`.to("cuda")` took the buffers along and left the plain tensor behind.': "on_two_devices() == ['cuda', 'cpu']",
    # 9 train and eval
    "We send 10,000 ones through. In training half of them become 0.": (
        "len(ones) == 10_000 and abs((dropped == 0).float().mean().item() - 0.5) < 0.02"
    ),
    "The mean stays near 1, because what is kept is doubled": (
        "abs(dropped.mean().item() - 1) < 0.03 and sorted(set(dropped.tolist())) == [0, 2]"
    ),
    "After `eval()` all four switches are off, also the nested one.": (
        "[module.training for module in net.modules()] == [False] * 4"
    ),
    "It moves to 1: a tenth of the way. And in eval mode autograd still records.": (
        "abs(moved - 1) < 1e-6 and norm.running_mean.item() == moved and norm(tens).requires_grad"
    ),
    "`forward` contains `x = F.dropout(x, 0.5)`. You call `net.eval()`.": (
        "nn.Module().eval().training is False and bool((F.dropout(ones, 0.5) == 0).any())"
    ),
    "Write `F.dropout(x, 0.5, training=self.training)`": "torch.equal(F.dropout(ones, 0.5, training=False), ones)",
    "No. It does exactly what it does in training.": "sorted(set(F.dropout(ones, 0.5).tolist())) == [0, 2]",
    # 10 Six questions
    "Every fault is caught, and no single question catches them all.": (
        "all(answers['LeNet'].values()) and not any(all(row.values()) for name, row in answers.items()"
        " if name != 'LeNet') and all(any(row.get(q) for name, row in answers.items() if name != 'LeNet')"
        " for q in columns)"
    ),
    "Each of the six faulty networks": "len(answers) - 1 == 6 and len(columns) - 1 == 6",
    "`SoftmaxTwice` fails by heart alone; `Unused` only lacks gradients; `InAList` passes everything but the last.": (
        "[no(name) for name in ('SoftmaxTwice', 'Unused', 'InAList')] == [['by heart'], ['gradients'], ['whole state']]"
    ),
    "`WrongAxis` even learns by heart": "no('WrongAxis') == ['apart']",
    "Given a single image, it returns ten zeros.": "WrongAxis()(digits[:1]).tolist() == [[0] * 10]",
    "`few` are the first two images of each digit: the twenty examples": (
        "len(few) == len(batch) == 20 and y_train[few].tolist() == [d for d in range(10) for _ in range(2)]"
    ),
    "every network that we compare sees the same batches": (
        "fit(LeNet(), digits[:100], y_train[:100], epochs=1, rate=0, batch=50)[0] > 0 and same_batches()"
    ),
    # 11 The zoo
    "`torchvision.models` has more than a hundred": "len(models.list_models()) > 100",
    "ResNet-18 has 11,689,512 parameters and tells a thousand classes apart": (
        "size(resnet) == 11_689_512 and resnet.fc.out_features == len(described.meta['categories']) == 1000"
    ),
    "Right on 69.758 % of the photographs of ImageNet, says its maker, by 44.661 MB of weights.": (
        "described.meta['_metrics']['ImageNet-1K']['acc@1'] == 69.758 and described.meta['_file_size'] == 44.661"
    ),
    "**This notebook does not download them, and nothing below needs them.**": "DOWNLOAD is False",
    "The last layer reads 512 numbers.": "pretrained.fc.in_features == 512",
    "5,130 of 11,181,642. What is grey is frozen.": (
        "sum(p.numel() for p in pretrained.parameters() if p.requires_grad) == 5130 and size(pretrained) == 11_181_642"
    ),
    "60 entries have changed: three buffers in each of its 20 BatchNorm layers.": (
        "len(changed) == 60 and sum(isinstance(m, nn.BatchNorm2d) for m in pretrained.modules()) == 20"
        " and {name.rsplit('.')[-1] for name in changed} == {'running_mean', 'running_var', 'num_batches_tracked'}"
    ),
    "Put the frozen part into `eval()` mode as well": "changed_in_eval() == 0",
    "holds the paper askew, by 30 degrees, and only 20 of its images have labels, two of each digit": (
        "y_train[few].bincount().tolist() == [2] * 10 and torch.equal(tilted, transform.rotate(digits, 30))"
    ),
    "Three ways to use the 20 labels": "len(few) == 20 and len(askew) == 3",
    "The old network alone is right on about half of the tilted images. Twenty labels lift it above 70 % if everything"
    " may move, and that beats the start from scratch. The last layer alone helps less": (
        "0.45 < askew['train everything'][0] < 0.65 and askew['train everything'][-1] > 0.7 and"
        " all(askew['train everything'][-1] > askew[w][-1] + 0.05 for w in ('from scratch', 'train the last layer'))"
    ),
    "Same code, same 20 labels. Which start is better after 30 epochs? And after 100?": (
        "all(len(curve) == 11 for curve in negative.values())"
    ),
    "After 30 epochs the start from scratch leads by more than 20 points. After 100 the checkpoint has overtaken it.": (
        "negative['from scratch'][3] > negative['train everything'][3] + 0.2"
        " and negative['train everything'][-1] > negative['from scratch'][-1]"
    ),
    "Behind frozen filters the last layer finds nothing for a long time.": (
        "max(negative['train the last layer'][:6]) < 0.05"
    ),
    "a single number at 30 epochs would have told the opposite story": "len(range(0, 101, 10)) == 11",
    "`described.transforms()` gives the right preparation": "described.transforms().crop_size == [224]",
    # 12 Exercises
    "two convolutions of 6 and 16 channels, dropout, one linear layer": "size(Broken()) == 2570",
    "keeps `self.centre = 0.9 * self.centre + 0.1 * mean`, starting from zeros": "len(means) == 3",
}

SHORTHAND = """
def raised(function):
    try:
        function()
        return ""
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def bare_beside_a_layer():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.ones(2, requires_grad=True)
            self.layer = nn.Linear(2, 1)

    both = Both()
    optimiser = torch.optim.SGD(both.parameters(), lr=0.1)
    both.layer(both.weight * torch.ones(3, 2)).sum().backward()
    optimiser.step()
    return [len(list(both.parameters())), bool((both.weight == 1).all())]


def assign_a_result():
    layer = nn.Linear(2, 1)
    layer(torch.ones(1, 2)).sum().backward()
    layer.weight = layer.weight - 0.1 * layer.weight.grad


two = TwoLayerNet(1000, 100, 10)
torch.manual_seed(1)
probe_x, probe_64, s10, y5 = torch.randn(5, 4), torch.randn(5, 64), torch.randn(5, 10), torch.arange(5)


def reloaded(trained):
    torch.manual_seed(1)
    copied = ConvNetOf()
    copied.load_state_dict(trained.state_dict())
    return copied


def counting(times):
    layer, counted = nn.ReLU(), []
    for _ in range(times):
        layer.register_forward_hook(lambda *_: counted.append(1))
    layer(torch.ones(1))
    return len(counted)


def registered_three_times():
    return counting(3)


def replaced_by_a_hook():
    layer = nn.ReLU()
    layer.register_forward_hook(lambda *_: torch.tensor(7))
    return layer(torch.ones(1)).item()


def hook_in_a_with_block():
    layer, counted, after = nn.ReLU(), [], []
    with layer.register_forward_hook(lambda *_: counted.append(1)):
        layer(torch.ones(1))
    after.append(len(counted))
    layer(torch.ones(1))
    return [*after, len(counted)]


def restored():
    other = LeNet()
    other.load_state_dict(torch.load(checkpoint))
    return other


def load_a_whole_module():
    path = checkpoint.with_name("whole.pt")
    torch.save(nn.ReLU(), path)
    torch.load(path)


def like_the_image(k):
    inside = image[0, 0, 2:26, 2:26]
    return np.corrcoef(maps[k].flatten(), inside.flatten())[0, 1]


def same_batches():
    class Spy(nn.Linear):
        def forward(self, x):
            batches.append(x.sum().item())
            return super().forward(x)

    batches = []
    for _ in range(2):
        fit(Spy(64, 10), x_train.flatten(1), y_train, epochs=2)
    return batches[:60] == batches[60:] and len(set(batches)) > 50


def on_two_devices():
    with virtual_cuda.session(quiet=True):
        return [Normalise(digits).to("cuda").mean.device.type, PlainMean(digits).to("cuda").mean.device.type]


def no(name):
    return [question for question, answer in answers[name].items() if not answer]


def changed_in_eval():
    before_it = copy.deepcopy(pretrained.state_dict())
    pretrained.eval()
    with torch.no_grad():
        pretrained(torch.rand(4, 3, 64, 64))
    return sum(not torch.equal(value, before_it[name]) for name, value in pretrained.state_dict().items())
"""
"""names for the facts above, made in the lecture's kernel after its last cell"""


@pytest.mark.parametrize("said", FACTS)
def test_what_the_text_says_is_so(ran: Any, said: str) -> None:
    assert said in ran.prose, "the text no longer says this"
    ran.do(SHORTHAND)
    assert ran.value(FACTS[said]) is True


def test_no_number_in_the_text_goes_unchecked(ran: Any) -> None:
    assert ran.unchecked_numbers(FACTS) == []


# What fails on purpose fails, with the words that the text quotes.

ON_PURPOSE = {
    "class Forgetful": "AttributeError: cannot assign module before Module.__init__() call\n"
    "ValueError: optimizer got an empty parameter list",
    "class Misnamed": "AttributeError: 'Misnamed' object has no attribute 'fc1'",
    "class AnySize": "RuntimeError: mat1 and mat2 shapes cannot be multiplied (1x1600 and 1024x10)",
    "class Renamed": 'Missing key(s) in state_dict: "head.weight", "head.bias".',
    "class PlainMean": "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu",
}
"""piece of a cell -> what the cell shows"""


@pytest.mark.parametrize("cell", ON_PURPOSE)
def test_what_fails_on_purpose_fails_with_the_message_that_the_text_explains(ran: Any, cell: str) -> None:
    assert ON_PURPOSE[cell] in ran.printed(cell)


def test_nothing_else_fails_on_purpose(ran: Any) -> None:
    assert len(ran.failing_on_purpose()) == len(ON_PURPOSE)


# The exercises: a check waits, names the mistake, and accepts what is right.

RESIDUAL = """
class Residual(nn.Module):
    def __init__(self, inner):
        super().__init__()
        {keep}

    def forward(self, x):
        {rest}
"""
MENDED = """
class Mended(nn.Module):
    def __init__(self):
        super().__init__()
        self.convs = {keep}([nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5)])
        self.fc = nn.Linear(16 * 4 * 4, 10)

    def forward(self, x):
        for conv in self.convs:
            x = F.max_pool2d(conv(x).relu(), 2)
        x = F.dropout(x.flatten(1), 0.2, training={training})
        return {result}
"""
CENTRE = """
class RunningCentre(nn.Module):
    def __init__(self, columns):
        super().__init__()
        {keep}

    def forward(self, x):
        if {training}:
            mean = x.mean(dim=0)
            {update}
            return x - {subtract}
        return x - self.centre
"""


def _residual(rest: str, keep: str = "self.inner = inner") -> str:
    return RESIDUAL.format(rest=rest, keep=keep)


def _mended(keep: str = "nn.ModuleList", training: str = "self.training", result: str = "self.fc(x)") -> str:
    return MENDED.format(keep=keep, training=training, result=result)


def _centre(
    keep: str = 'self.register_buffer("centre", torch.zeros(columns))',
    training: str = "self.training",
    update: str = "self.centre = 0.9 * self.centre + 0.1 * mean.detach()",
    subtract: str = "mean",
) -> str:
    return CENTRE.format(keep=keep, training=training, update=update, subtract=subtract)


IN_PLACE = "with torch.no_grad(): self.centre.lerp_(mean, 0.1)"

ANSWERS = [
    (1, _residual("return x + self.inner(x)"), "right, all 6 checks hold."),
    (1, _residual("self.inner(x) + x"), "Is there a `return`?"),
    (1, _residual("return self.inner(x)"), "Add x."),
    (1, _residual("return x + 2 * self.inner(x)"), "x must become 2 x"),
    (
        1,
        _residual("return x + self.inner[0](x)", keep="self.inner = [inner]"),
        "The inner parameters are not registered",
    ),
    (1, _residual("return x + self.inner.forward(x)"), "not its `forward`"),
    (2, _mended(), "right, all 6 checks hold."),
    (2, _mended(keep="(lambda layers: nn.Sequential(*layers))"), "right, all 6 checks hold."),
    (2, _mended(keep="list"), "Are the convolutions registered?"),
    (2, _mended(result="self.fc(x).softmax(dim=1)"), "there is still a softmax"),
    (2, _mended(training="True"), "tell the dropout to stop"),
    (2, _mended(training="False"), "the dropout is gone"),
    (2, _mended(result="self.fc(x).log_softmax(dim=0)"), "One of the six questions says no"),
    (3, _centre(), "right, all 8 checks hold."),
    (3, _centre(update=IN_PLACE), "right, all 8 checks hold."),
    (3, _centre(keep="self.centre = torch.zeros(columns)"), "make it a buffer"),
    (
        3,
        _centre(keep="self.centre = nn.Parameter(torch.zeros(columns))", update=IN_PLACE),
        "an optimiser would move it",
    ),
    (3, _centre(subtract="self.centre"), "subtract the mean of the batch"),
    (3, _centre(update="self.centre = mean.detach()"), "should be 0.1 * mean"),
    (3, _centre(update="self.centre = 0.1 * mean.detach()"), "should be 0.19 * mean"),
    (3, _centre(training="True"), "In eval mode, subtract `centre`"),
    (3, _centre(update="self.centre = 0.9 * self.centre + 0.1 * mean"), "drags the graph"),
]
"""number of the exercise, an answer, and what its check says to it"""


@pytest.mark.parametrize(("exercise", "answer", "said"), ANSWERS)
def test_a_check_accepts_what_is_right_and_names_what_is_wrong(ran: Any, exercise: int, answer: str, said: str) -> None:
    assert said in ran.say(exercise, answer)


@pytest.mark.parametrize("exercise", [1, 2, 3])
def test_a_check_waits_for_who_has_not_begun(ran: Any, exercise: int) -> None:
    ran.assert_waits(exercise)


# What the lecture teaches is tested as code, too, on more than the lecture shows.


@pytest.fixture
def classes(ran: Any) -> dict[str, Any]:
    """The lecture's own modules as the notebook writes them, in this process."""
    names: dict[str, Any] = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional}
    for cell in ran.notebook.cells:
        if cell.cell_type == "code" and "class " in cell.source and "%pip" not in cell.source:
            found = [node for node in ast.parse(cell.source).body if isinstance(node, ast.ClassDef)]
            exec("from itertools import pairwise\n" + "\n".join(map(ast.unparse, found)), names)
    return names


@pytest.mark.parametrize(("n_in", "n_out"), [(1, 1), (4, 3), (50, 7)])
def test_the_lectures_linear_layer_agrees_with_torchs(ran: Any, classes: Any, n_in: int, n_out: int) -> None:
    ours, theirs, x = classes["MyLinear"](n_in, n_out), torch.nn.Linear(n_in, n_out), torch.randn(2, 5, n_in)
    ours.load_state_dict(theirs.state_dict())
    torch.testing.assert_close(ours(x), theirs(x))


def test_mini_finds_what_a_module_finds(ran: Any, classes: Any) -> None:
    def build(base: Any) -> Any:
        class Inner(base):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.a = torch.nn.Parameter(torch.ones(2))
                self.bare = torch.ones(2, requires_grad=True)

        class Outer(base):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.first, self.listed = Inner(), [Inner()]
                self.second = Inner()
                self.number = 1

        return [name for name, _ in Outer().named_parameters()]

    assert build(classes["Mini"]) == build(torch.nn.Module) == ["first.a", "second.a"]


def test_the_lectures_dropout_agrees_with_torchs(ran: Any, classes: Any) -> None:
    x = torch.ones(50_000)
    for p in (0.1, 0.5, 0.8):
        ours, theirs = (make(p)(x) for make in (classes["MyDropout"], torch.nn.Dropout))
        torch.testing.assert_close(ours.unique(), theirs.unique())
        assert ours.mean().item() == pytest.approx(1, abs=0.05)
        assert classes["MyDropout"](p).eval()(x) is x


def test_a_batch_of_one_goes_through_every_network(ran: Any, classes: Any) -> None:
    for name in ("ConvNet", "AnySize", "ConvNetOf", "LeNet", "SoftmaxTwice"):
        assert classes[name]()(torch.rand(1, 1, 28, 28)).shape == (1, 10)


def test_a_failed_download_is_one_sentence_and_the_notebook_goes_on(ran: Any) -> None:
    """The cell with `DOWNLOAD` set to True, where the file cannot be reached."""
    [source] = [cell.source for cell in ran.notebook.cells if "DOWNLOAD = False" in cell.source]
    ran.do(
        "import contextlib, io, unittest.mock, urllib.error\n"
        "away = unittest.mock.Mock(side_effect=urllib.error.URLError('away'))\n"
        "refuse = unittest.mock.patch('torchvision.models._api.load_state_dict_from_url', away)\n"
        "kept = pretrained\n"
        "with contextlib.redirect_stdout(io.StringIO()) as said, refuse:\n"
        + textwrap.indent(source.replace("DOWNLOAD = False", "DOWNLOAD = True"), "    ")
        + "\nDOWNLOAD, pretrained, replaced = False, kept, pretrained\n"
    )
    assert ran.value("said.getvalue()").startswith("The weights could not be loaded (")
    assert ran.value("size(replaced)") == 11_689_512


FIGURES = (
    "TwoLayerNet, 101110 parameters; first: MyLinear, weight (100, 1000)",
    "mul of (1, 1) and (1, 1) gives (1, 1); relu of (1, 1) gives result = 15",
    "6 images side by side: a 0, 28 by 28",
    "conv2: Conv2d, weight (64, 32, 5, 5), bias (64,), 51264 parameters",
    "ModuleList goes from 2.29 to",
    "Tree of modules. ConvNetOf, 10250 parameters; fc: Linear",
    "conv1 32 × 24 × 24, then pool 32 × 12 × 12, then conv2 64 × 8 × 8, then pool 64 × 4 × 4, then fc 10",
    "softmax twice goes from 2.3 to 1.",
    "7 images side by side: image, 28 by 28",
    "layer4: Sequential, 15 modules inside (frozen), 8393728 parameters",
    "6 images side by side: 0, tilted, 28 by 28",
    "right on tilted test images against epochs on 20 images. train everything: from",
    "right on negatives against epochs on 20 images. train everything: from 0 at 0",
)


def test_the_figures_are_drawn_from_what_was_computed(ran: Any) -> None:
    ran.assert_figures(FIGURES)
