"""Draw the graph that PyTorch's autograd recorded, read from `grad_fn` and nothing else.

Autograd stores the way back: a result points at the operation that made it, and that one at the operations that made
its inputs. Here these links are followed, turned round and handed to `graph`, so that the picture runs forwards like
every other graph of the course. What autograd did not record is not drawn: data that requires no gradient is missing
from the picture because it is missing from the graph. torch itself is not imported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_lib.plots.circuits import Number, Step, draw_steps
from course_lib.plots.graphs import Unseen, graph
from course_lib.plots.style import Canvas


@dataclass(eq=False)
class Value:
    """What is known of one value in the graph: the fields of `graphs.Node`."""

    value: Any
    """an array of the right shape whose content counts only if it is one number; else `Unseen`"""
    name: str = ""
    grad: Any = None


@dataclass(frozen=True)
class Operation:
    """One recorded operation: the fields of `graphs.Record`."""

    op: str
    inputs: list[Value]
    """those that the gradient flows to, in the order of the operation's arguments"""
    output: Value


@dataclass(frozen=True)
class RecordedStep(Step):
    """An operation of single numbers with what its node's rule sends back, instead of a rule of `circuits`."""

    sent: tuple[float, ...] = ()

    def backward(self) -> tuple[float, ...]:
        return self.sent


def autograd_graph(result: Any, /, *, backward: bool = False, **names: Any) -> Canvas:
    """Draw what autograd recorded for the tensor `result`; `names` are tensors to be called by name, `w=w`.

    A leaf shows its shape (or its one number) and its `.grad` if it has one; an intermediate result only its shape,
    unless it is among `names`. Raises ValueError if nothing was recorded.

    backward: draw it as `circuit` does, with the values above the arrows and below them what the nodes send back. For
    graphs of single numbers that are all among `names`, before a backward pass has freed what the nodes saved.
    """
    if backward:
        return draw_steps(autograd_steps(result, **names), backward=True)
    return graph(autograd_records(result, **names))


def autograd_records(result: Any, /, **names: Any) -> list[Operation]:
    """The operations behind `result`, each once, inputs before uses: the order in which they may have run."""
    last = result.grad_fn
    if last is None:
        raise ValueError(
            "autograd_graph: nothing was recorded for this tensor; compute it from one with requires_grad=True"
        )
    values: dict[Any, Value] = {}
    records = []
    for node in _inputs_first(last):
        is_leaf = hasattr(node, "variable")
        known = {"": node.variable} if is_leaf else {"": result} if node is last else {}
        known |= {name: tensor for name, tensor in names.items() if _stands_for(node, tensor)}
        name, tensor = [("", None), *known.items()][-1]
        values[node] = Value(_shape_of(node)) if tensor is None else _value(tensor, name)
        if not is_leaf:
            inputs = [values[earlier] for earlier, _ in node.next_functions if earlier is not None]
            records.append(Operation(operation_name(type(node).__name__), inputs, values[node]))
    return records


def autograd_steps(result: Any, /, **names: Any) -> list[RecordedStep]:
    """The operations behind `result` with what each node sends back to its inputs, which is asked of the nodes."""
    nodes = _inputs_first(result.grad_fn)
    numbers = {node: _number(node, names) for node in nodes}
    arrived = {result.grad_fn: result.detach() * 0 + 1}
    sent: dict[Any, list[float]] = {}
    for node in reversed(nodes):
        numbers[node].grad = arrived[node].item()
        if hasattr(node, "variable"):
            continue
        answer = node(arrived[node])
        grads = answer if isinstance(answer, tuple) else (answer,)
        sent[node] = []
        for (earlier, _), grad in zip(node.next_functions, grads, strict=True):
            if earlier is not None:
                arrived[earlier] = arrived.get(earlier, 0) + grad.detach()
                sent[node].append(grad.item())
    return [
        RecordedStep(
            operation_name(type(node).__name__),
            tuple(numbers[earlier] for earlier, _ in node.next_functions if earlier is not None),
            numbers[node],
            tuple(sent[node]),
        )
        for node in nodes
        if node in sent
    ]


def operation_name(node_type: str) -> str:
    """`MulBackward0` -> `mul`, `LogSoftmaxBackward0` -> `log_softmax`; one's own function keeps its name."""
    name = re.sub(r"Backwards?\d*$", "", node_type)
    if not node_type[-1].isdigit():
        return name
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _number(node: Any, names: Mapping[str, Any]) -> Number:
    for name, tensor in names.items():
        if tensor.numel() == 1 and _stands_for(node, tensor):
            return Number(tensor.item(), name)
    raise ValueError("autograd_graph: backward=True needs a graph of single numbers, all of them given by name")


def _stands_for(node: Any, tensor: Any) -> bool:
    """Whether `node` is where the graph holds `tensor`: a leaf's own node, or the operation that made it."""
    return node.variable is tensor if hasattr(node, "variable") else node is tensor.grad_fn


def _inputs_first(last: Any) -> list[Any]:
    """Every node that `last` leads back to, each after all that it leads back to itself. Deep graphs are no problem."""
    order: list[Any] = []
    done: set[Any] = set()
    waiting = [(last, False)]
    while waiting:
        node, inputs_done = waiting.pop()
        if inputs_done:
            order.append(node)
        elif node not in done:
            done.add(node)
            earlier = [found for found, _ in node.next_functions if found is not None]
            waiting.append((node, True))
            waiting.extend((found, False) for found in reversed(earlier))
    return order


def _value(tensor: Any, name: str) -> Value:
    grad = tensor.grad if tensor.is_leaf or tensor.retains_grad else None
    return Value(_array(tensor), name, None if grad is None else _array(grad))


def _array(tensor: Any) -> Any:
    """Only a single number is read, so that a large tensor on a GPU is not copied for its picture."""
    if tensor.numel() == 1:
        return np.full(tuple(tensor.shape), tensor.item())
    return np.broadcast_to(np.nan, tuple(tensor.shape))


def _shape_of(node: Any) -> Unseen:
    return Unseen(tuple(int(length) for length in node._input_metadata[0].shape))
