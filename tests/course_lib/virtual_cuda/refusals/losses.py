"""Rows: losses, with their targets or their weights on the wrong device."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.course_lib.virtual_cuda.refusals.cases import (
    COPY,
    ITERATOR,
    PYTHON,
    Table,
    allowed,
    classes,
    cuda,
    generated,
    issue,
    iterator,
    number,
)

table = Table()
row = table.row


@row(generated("target", "cpu", "cuda:0", "wrapper_CUDA_nll_loss_forward"))
def cross_entropy_with_a_cpu_target() -> Tensor:
    """The second commonest mistake: the labels stayed behind."""
    return F.cross_entropy(cuda(4, 3), classes(4, device="cpu"))


@row(generated("target", "cuda:0", "cpu", "wrapper_CUDA_nll_loss_forward"))
def cross_entropy_with_cpu_logits() -> Tensor:
    """The other way round."""
    return F.cross_entropy(torch.randn(4, 3), classes(4))


@row(generated("weight", "cpu", "cuda:0", "wrapper_CUDA_nll_loss_forward"), issue("pytorch/pytorch/pull/155085"))
def cross_entropy_with_cpu_class_weights() -> Tensor:
    """A loss has a buffer too, and must be moved with the model."""
    return nn.CrossEntropyLoss(weight=torch.ones(3))(cuda(4, 3), classes(4))


@row(iterator(), ITERATOR)
def cross_entropy_with_cpu_probabilities() -> Tensor:
    """Probabilities as targets are multiplied."""
    return F.cross_entropy(cuda(4, 3), torch.full((4, 3), 1 / 3))


@row(generated("target", "cpu", "cuda:0", "wrapper_CUDA_nll_loss_forward"))
def nll_loss_with_a_cpu_target() -> Tensor:
    """The loss that cross entropy is made of."""
    return F.nll_loss(cuda(4, 3).log_softmax(1), classes(4, device="cpu"))


@row(generated("target", "cpu", "cuda:0", "wrapper_CUDA__nll_loss2d_forward"))
def cross_entropy_of_images_with_a_cpu_target() -> Tensor:
    """A class for each pixel."""
    return F.cross_entropy(cuda(2, 3, 4, 4), classes(2, 4, 4, device="cpu"))


@row(iterator(), ITERATOR)
def mse_loss_with_a_cpu_target() -> Tensor:
    """Element by element."""
    return F.mse_loss(cuda(4), torch.randn(4))


@row(iterator(), ITERATOR)
def l1_loss_with_a_cpu_target() -> Tensor:
    """A difference."""
    return F.l1_loss(cuda(4), torch.randn(4))


@row(iterator(), ITERATOR)
def smooth_l1_loss_with_a_cpu_target() -> Tensor:
    """Element by element."""
    return F.smooth_l1_loss(cuda(4), torch.randn(4))


@row(generated("target", "cpu", "cuda:0", "wrapper_CUDA__huber_loss"))
def huber_loss_with_a_cpu_target() -> Tensor:
    """Element by element, but with a generated check."""
    return F.huber_loss(cuda(4), torch.randn(4))


@row(iterator(), ITERATOR)
def binary_cross_entropy_with_a_cpu_target() -> Tensor:
    """Probabilities of one class."""
    return F.binary_cross_entropy(cuda(4).sigmoid(), torch.ones(4))


@row(iterator(), ITERATOR)
def binary_cross_entropy_of_logits_with_a_cpu_target() -> Tensor:
    """Logits of one class."""
    return F.binary_cross_entropy_with_logits(cuda(4), torch.ones(4))


@row(iterator(), ITERATOR)
def binary_cross_entropy_with_a_cpu_pos_weight() -> Tensor:
    """A weight in a loss that was not moved."""
    return nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0, 3.0]))(cuda(4, 2), torch.ones(4, 2, device="cuda"))


@row(iterator(), ITERATOR)
def kl_div_with_a_cpu_target() -> Tensor:
    """A product of elements."""
    return F.kl_div(cuda(4, 3).log_softmax(1), torch.full((4, 3), 1 / 3), reduction="batchmean")


@row(allowed(), ITERATOR)
def mse_loss_with_a_cpu_number() -> Tensor:
    """A 0-dimensional CPU tensor is a number."""
    return F.mse_loss(number(), torch.tensor(1.0))


@row(iterator(), ITERATOR)
def binary_cross_entropy_with_a_cpu_weight() -> Tensor:
    """A weight for each sample."""
    return F.binary_cross_entropy(cuda(4).sigmoid(), torch.ones(4, device="cuda"), weight=torch.full((4,), 0.5))


@row(allowed(), PYTHON)
def cross_entropy_moved_with_its_weights() -> Tensor:
    """A loss is a module, and moves as one."""
    return nn.CrossEntropyLoss(weight=torch.ones(3)).cuda()(cuda(4, 3), classes(4))


@row(allowed("cpu"), COPY)
def count_of_right_answers_on_the_cpu() -> Tensor:
    """Everything is copied first."""
    return (cuda(4, 3).argmax(1).cpu() == classes(4, device="cpu")).sum()
