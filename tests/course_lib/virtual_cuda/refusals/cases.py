"""The form of a row of the table, and the words and the tensors that rows have in common."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

Program = Callable[[], Any]

TORCHGEN = "torchgen: the check is generated from the wheel's native_functions.yaml"
SAME = "the installed torch: its C++ says so before any device is looked at, on the CPU too"
FAKE = "FakeTensor: torch/_subclasses/fake_tensor.py, _find_common_device"
PYTHON = "the installed torch: this is its Python code, which runs as it is"
_SOURCE = "https://github.com/pytorch/pytorch/blob/main/"
ITERATOR = _SOURCE + "aten/src/ATen/TensorIterator.cpp (compute_types)"
INDEXING = _SOURCE + "aten/src/ATen/native/TensorAdvancedIndexing.cpp"
CUDA_INDEXING = _SOURCE + "aten/src/ATen/native/cuda/Indexing.cu"
CONVOLUTION = _SOURCE + "aten/src/ATen/native/Convolution.cpp (check_input_same_type_as_parameters)"
RECURRENT = _SOURCE + "aten/src/ATen/native/RNN.h (check_attributes)"
VARIABLE = _SOURCE + "torch/csrc/autograd/python_variable.cpp (THPVariable_grad_setter)"
ENGINE = _SOURCE + "torch/csrc/autograd/engine.cpp (validate_outputs)"
GENERATOR = _SOURCE + "aten/src/ATen/core/Generator.h (check_generator)"
COPY = _SOURCE + "aten/src/ATen/native/Copy.cpp"
UNSURE = "not settled: which implementation of attention complains depends on the GPU and on the version of torch"
"""a row with this source is the first to look at when a record of a real GPU is there"""


def native(file: str, function: str) -> str:
    """A source: what a function of torch's C++ does, as it was read there."""
    return f"{_SOURCE}{file} ({function})"


def issue(address: str) -> str:
    """A source: a public thread that quotes what real CUDA printed, `owner/name/issues/1`."""
    return f"https://github.com/{address}"


@dataclass(frozen=True)
class Refusal:
    """The program must raise."""

    error: str
    """the exception's class name"""
    words: str
    """regular expression, searched in its text"""

    def explain(self, outcome: Outcome) -> str:
        """What is wrong with an outcome, or nothing."""
        if outcome.error is None:
            return f"allowed, with a result on {outcome.device}, but {self.error} was expected: {self.words}"
        if self.error not in outcome.classes:
            return f"raised {outcome.error} instead of {self.error}: {outcome.text}"
        return "" if re.search(self.words, outcome.text) else f"says {outcome.text!r} instead of {self.words!r}"


@dataclass(frozen=True)
class Allowance:
    """The program must run."""

    device: str
    """where its result is"""

    def explain(self, outcome: Outcome) -> str:
        """What is wrong with an outcome, or nothing."""
        if outcome.error is not None:
            return f"refused: {outcome.error}: {outcome.text}"
        return "" if outcome.device == self.device else f"result on {outcome.device} instead of {self.device}"


Expectation = Refusal | Allowance


@dataclass(frozen=True)
class Outcome:
    """What a program did."""

    device: str | None = None
    """where its result is, if it ran"""
    error: str | None = None
    """the name of the exception's class, if it raised"""
    classes: tuple[str, ...] = ()
    """that class and its bases"""
    text: str = ""
    """the exception's text"""


@dataclass(frozen=True)
class Case:
    """A row of the table."""

    name: str
    description: str
    program: Program
    expect: Expectation
    source: str
    """where the expectation comes from"""
    devices: int
    """how many CUDA devices the program needs"""

    def run(self) -> Outcome:
        """Run the program here and now, with the same random numbers every time."""
        torch.manual_seed(0)
        try:
            result = self.program()
        except Exception as error:
            classes = tuple(c.__name__ for c in type(error).__mro__)
            return Outcome(error=classes[0], classes=classes, text=str(error))
        return Outcome(device=str(result.device))


class Table:
    """Rows in the order in which they are written."""

    def __init__(self) -> None:
        self.rows: list[Case] = []

    def row(self, expect: Expectation, source: str = TORCHGEN, *, devices: int = 1) -> Callable[[Program], Program]:
        """Decorator: the function is a program, its docstring the description."""

        def add(program: Program) -> Program:
            name = getattr(program, "__name__", "")
            self.add(name, inspect.getdoc(program) or "", expect, program, source, devices=devices)
            return program

        return add

    def add(
        self,
        name: str,
        description: str,
        expect: Expectation,
        program: Program,
        source: str = TORCHGEN,
        *,
        devices: int = 1,
    ) -> None:
        """A row whose program is one expression."""
        self.rows.append(Case(name, description, program, expect, source, devices))


def allowed(device: str = "cuda:0") -> Allowance:
    """It runs, and the result is on `device`."""
    return Allowance(device)


def raises(error: str, words: str) -> Refusal:
    """It raises `error`, in words that match a regular expression."""
    return Refusal(error, words)


def says(text: str) -> Refusal:
    """A RuntimeError with exactly these words in it."""
    return Refusal("RuntimeError", re.escape(text))


def generated(argument: str, found: str, common: str, method: str) -> Refusal:
    """A check that torchgen generates: `argument` is on `found`, tensors before it on `common`; torch 2.8 reworded."""
    begin = re.escape("Expected all tensors to be on the same device, but ")
    new = f"got {argument} is on {found}, different from other tensors on {common} (when checking argument in method "
    old = (
        f"found at least two devices, {common} and {found}! (when checking argument for argument {argument} in method "
    )
    return Refusal("RuntimeError", f"{begin}({re.escape(new)}|{re.escape(old)})wrapper_CUDA_{re.escape(method)}\\)")


def iterator(first: str = "cuda:0", second: str = "cpu") -> Refusal:
    """TensorIterator's check: the first device that is not the CPU comes first."""
    text = f"Expected all tensors to be on the same device, but found at least two devices, {first} and {second}!"
    return Refusal("RuntimeError", f"{re.escape(text)}$")


def cuda(*shape: int) -> Tensor:
    """Random numbers on the device."""
    return torch.randn(*shape, device="cuda")


def number() -> Tensor:
    """A 0-dimensional one."""
    return torch.randn((), device="cuda")


def classes(*shape: int, device: str = "cuda") -> Tensor:
    """Class numbers below 3."""
    return torch.zeros(*shape, dtype=torch.long, device=device)
