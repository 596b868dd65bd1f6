"""Rows: layers, with their input or their parameters on the wrong device."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.course_lib.virtual_cuda.refusals.cases import (
    CONVOLUTION,
    ITERATOR,
    PYTHON,
    TORCHGEN,
    Table,
    allowed,
    cuda,
    generated,
    issue,
    iterator,
    native,
    says,
)

table = Table()
row = table.row
DENSE = "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same"
ON_CPU = "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"


# -- linear ----------------------------------------------------------------------------------------------------------


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"), issue("ClownsharkBatwing/RES4LYF/pull/223"))
def linear_with_a_cpu_batch() -> Tensor:
    """The commonest mistake: the model is on the device, the batch is not."""
    return nn.Linear(4, 2).cuda()(torch.randn(3, 4))


@row(generated("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm"), issue("haotian-liu/LLaVA/issues/1081"))
def linear_left_on_the_cpu() -> Tensor:
    """The batch is on the device, the model is not."""
    return nn.Linear(4, 2)(cuda(3, 4))


@row(generated("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"))
def linear_without_bias_with_a_cpu_batch() -> Tensor:
    """Without a bias there is no addition, and another operator complains."""
    return nn.Linear(4, 2, bias=False).cuda()(torch.randn(3, 4))


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_mm"), issue("Lightricks/LTX-Video/issues/24"))
def linear_without_bias_left_on_the_cpu() -> Tensor:
    """The weight is the second matrix."""
    return nn.Linear(4, 2, bias=False)(cuda(3, 4))


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"))
def linear_with_a_cpu_batch_of_sequences() -> Tensor:
    """Three dimensions are made two first."""
    return nn.Linear(4, 2).cuda()(torch.randn(2, 3, 4))


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"))
def linear_under_no_grad_with_a_cpu_batch() -> Tensor:
    """Inference mode changes nothing."""
    model = nn.Linear(4, 2).cuda().eval()
    with torch.inference_mode():
        return model(torch.randn(3, 4))


@row(generated("mat1", "cuda:1", "cuda:0", "wrapper_CUDA_addmm"), devices=2)
def linear_on_another_device() -> Tensor:
    """Two devices do not mix either."""
    return nn.Linear(4, 2).to("cuda:0")(torch.randn(3, 4, device="cuda:1"))


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"))
def sequential_whose_batch_is_on_the_cpu() -> Tensor:
    """The first layer complains, whatever follows."""
    return nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()(torch.randn(3, 4))


@row(generated("mat1", "cuda:0", "cpu", "wrapper_CUDA_addmm"))
def layers_in_a_plain_list() -> Tensor:
    """`.cuda()` does not find what is in a Python list."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(4, 4)
            self.rest = [nn.Linear(4, 2)]

        def forward(self, batch: Tensor) -> Tensor:
            return self.rest[0](self.first(batch))

    return Net().cuda()(cuda(3, 4))


@row(iterator(), ITERATOR)
def attribute_that_is_no_buffer() -> Tensor:
    """`.cuda()` does not find a plain tensor attribute either."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.shift = torch.ones(4)

        def forward(self, batch: Tensor) -> Tensor:
            return batch + self.shift

    return Net().cuda()(cuda(3, 4))


@row(generated("tensor", "cpu", "cuda:0", "wrapper_CUDA__dot"))
def dot_of_mixed_vectors() -> Tensor:
    """Vectors as well as matrices."""
    return torch.dot(cuda(3), torch.randn(3))


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_bmm"), native("aten/src/ATen/native/Linear.cpp", "_trilinear"))
def bilinear_with_a_cpu_input() -> Tensor:
    """Two inputs, one of them left behind."""
    return nn.Bilinear(3, 4, 2).cuda()(cuda(5, 3), torch.randn(5, 4))


# -- convolution -----------------------------------------------------------------------------------------------------


@row(says(DENSE), issue("yeyupiaoling/AudioClassification-Pytorch/issues/1"))
def conv2d_with_a_cpu_batch() -> Tensor:
    """Convolutions compare types, not devices."""
    return nn.Conv2d(3, 4, 3).cuda()(torch.randn(2, 3, 8, 8))


@row(says(ON_CPU), issue("ML4ITS/mtad-gat-pytorch/issues/23"))
def conv2d_left_on_the_cpu() -> Tensor:
    """The other way round."""
    return nn.Conv2d(3, 4, 3)(cuda(2, 3, 8, 8))


@row(says(DENSE), CONVOLUTION)
def conv1d_with_a_cpu_batch() -> Tensor:
    """One dimension."""
    return nn.Conv1d(3, 4, 3).cuda()(torch.randn(2, 3, 8))


@row(says(ON_CPU), CONVOLUTION)
def conv1d_left_on_the_cpu() -> Tensor:
    """One dimension, the other way round."""
    return nn.Conv1d(3, 4, 3)(cuda(2, 3, 8))


@row(says(DENSE), CONVOLUTION)
def conv3d_with_a_cpu_batch() -> Tensor:
    """Three dimensions."""
    return nn.Conv3d(3, 4, 3).cuda()(torch.randn(2, 3, 4, 8, 8))


@row(says(ON_CPU), CONVOLUTION)
def conv_transpose2d_left_on_the_cpu() -> Tensor:
    """Transposed."""
    return nn.ConvTranspose2d(3, 4, 3)(cuda(2, 3, 8, 8))


@row(says(DENSE), CONVOLUTION)
def conv_transpose2d_with_a_cpu_batch() -> Tensor:
    """Transposed, the other way round."""
    return nn.ConvTranspose2d(3, 4, 3).cuda()(torch.randn(2, 3, 8, 8))


@row(says("Input type (torch.cuda.FloatTensor) and bias type (torch.FloatTensor) should be the same"), CONVOLUTION)
def conv2d_with_a_cpu_bias() -> Tensor:
    """Only the bias was left behind."""
    return F.conv2d(cuda(2, 3, 8, 8), cuda(4, 3, 3, 3), torch.zeros(4))


@row(says("Input type (torch.cuda.HalfTensor) and weight type (torch.FloatTensor) should be the same"), CONVOLUTION)
def conv2d_left_on_the_cpu_with_halves() -> Tensor:
    """The types named are those of the tensors."""
    return nn.Conv2d(3, 4, 3, bias=False)(cuda(2, 3, 8, 8).half())


@row(
    generated("weight", "cuda:1", "cuda:0", "wrapper_CUDA__cudnn_convolution"),
    issue("zhiheLu/CWT-for-FSS/issues/12"),
    devices=2,
)
def conv2d_on_another_device() -> Tensor:
    """Two devices have one type, so the check is cuDNN's."""
    return nn.Conv2d(3, 4, 3).to("cuda:1")(torch.randn(2, 3, 8, 8, device="cuda:0"))


# -- normalization ---------------------------------------------------------------------------------------------------


@row(
    generated("weight", "cpu", "cuda:0", "wrapper_CUDA__cudnn_batch_norm"),
    native("aten/src/ATen/native/Normalization.cpp", "_select_batch_norm_backend"),
)
def batch_norm_left_on_the_cpu() -> Tensor:
    """For images it is cuDNN's."""
    return nn.BatchNorm2d(3)(cuda(2, 3, 4, 4))


@row(
    generated("running_mean", "cpu", "cuda:0", "wrapper_CUDA__cudnn_batch_norm"),
    issue("foamliu/MobileFaceNet/issues/6"),
)
def batch_norm_with_cpu_statistics() -> Tensor:
    """Parameters on the device, running statistics left behind."""
    norm = nn.BatchNorm2d(3)
    norm.weight.data, norm.bias.data = norm.weight.data.cuda(), norm.bias.data.cuda()
    return norm(cuda(2, 3, 4, 4))


@row(
    generated("weight", "cuda:0", "cpu", "wrapper_CUDA__native_batch_norm"),
    native("aten/src/ATen/native/Normalization.cpp", "_select_batch_norm_backend"),
)
def batch_norm_with_a_cpu_batch() -> Tensor:
    """cuDNN takes only what is on the device; this is torch's own."""
    return nn.BatchNorm2d(3).cuda()(torch.randn(2, 3, 4, 4))


@row(
    generated("weight", "cpu", "cuda:0", "wrapper_CUDA__native_batch_norm"),
    native("aten/src/ATen/native/Normalization.cpp", "_select_batch_norm_backend"),
)
def batch_norm_of_vectors_left_on_the_cpu() -> Tensor:
    """For vectors it is torch's own."""
    return nn.BatchNorm1d(3)(cuda(4, 3))


@row(
    generated("weight", "cpu", "cuda:0", "wrapper_CUDA__native_layer_norm"),
    issue("sipie800/ComfyUI-PuLID-Flux-Enhanced/issues/35"),
)
def layer_norm_left_on_the_cpu() -> Tensor:
    """The weight is the first that is elsewhere."""
    return nn.LayerNorm(4)(cuda(3, 4))


@row(generated("weight", "cuda:0", "cpu", "wrapper_CUDA__native_layer_norm"), issue("Jamie-Stirling/RetNet/issues/27"))
def layer_norm_with_a_cpu_batch() -> Tensor:
    """The other way round."""
    return nn.LayerNorm(4).cuda()(torch.randn(3, 4))


@row(generated("weight", "cpu", "cuda:0", "wrapper_CUDA__native_group_norm"))
def group_norm_left_on_the_cpu() -> Tensor:
    """As layer normalization."""
    return nn.GroupNorm(2, 4)(cuda(3, 4, 5))


@row(generated("weight", "cpu", "cuda:0", "wrapper_CUDA___prelu_kernel"), TORCHGEN)
def prelu_left_on_the_cpu() -> Tensor:
    """An activation with a parameter."""
    return nn.PReLU()(cuda(3, 4))


# -- embedding -------------------------------------------------------------------------------------------------------


@row(
    generated("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"),
    issue("pengzhendong/streaming-sensevoice/issues/3"),
)
def embedding_with_cpu_tokens() -> Tensor:
    """Looking up is selecting rows."""
    return nn.Embedding(5, 4).cuda()(torch.tensor([1, 2]))


@row(generated("index", "cuda:0", "cpu", "wrapper_CUDA__index_select"), issue("dotnet/TorchSharp/issues/639"))
def embedding_left_on_the_cpu() -> Tensor:
    """The other way round."""
    return nn.Embedding(5, 4)(torch.tensor([1, 2], device="cuda"))


@row(generated("indices", "cpu", "cuda:0", "wrapper_CUDA___embedding_bag"))
def embedding_bag_with_cpu_tokens() -> Tensor:
    """Bags have an operator of their own."""
    return nn.EmbeddingBag(5, 4).cuda()(torch.tensor([[1, 2], [3, 4]]))


@row(generated("indices", "cuda:0", "cpu", "wrapper_CUDA___embedding_bag"))
def embedding_bag_left_on_the_cpu() -> Tensor:
    """The other way round."""
    return nn.EmbeddingBag(5, 4)(torch.tensor([[1, 2], [3, 4]], device="cuda"))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA_scatter__value"), issue("zhongyy/Face-Transformer/issues/37"))
def one_hot_by_scatter_with_cpu_classes() -> Tensor:
    """Classes written into a table on the device."""
    return torch.zeros(2, 3, device="cuda").scatter_(1, torch.tensor([[0], [2]]), 1.0)


@row(generated("grid", "cpu", "cuda:0", "wrapper_CUDA__grid_sampler_2d"), issue("SamsungLabs/rome/issues/27"))
def grid_sample_with_a_cpu_grid() -> Tensor:
    """Images on the device, sampling grid left behind."""
    return F.grid_sample(cuda(1, 1, 4, 4), torch.zeros(1, 2, 2, 2), align_corners=False)


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"), PYTHON)
def batch_whose_copy_was_dropped() -> Tensor:
    """`.to` moves a module, but of a tensor it makes a copy."""
    model, batch = nn.Linear(4, 2), torch.randn(3, 4)
    model.to("cuda")
    batch.to("cuda")
    return model(batch)


@row(allowed(), PYTHON)
def attribute_that_is_a_buffer() -> Tensor:
    """`.cuda()` finds it."""

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("shift", torch.ones(4))

        def forward(self, batch: Tensor) -> Tensor:
            return batch + self.get_buffer("shift")

    return Net().cuda()(cuda(3, 4))


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"))
def noise_for_a_generator_made_on_the_cpu() -> Tensor:
    """The generator of a GAN is fed by `randn`."""
    return nn.Sequential(nn.Linear(8, 4), nn.Tanh()).cuda()(torch.randn(2, 8))
