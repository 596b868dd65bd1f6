"""Rows: layers and losses, with their input, parameters or targets on the wrong device."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib.virtual_cuda.refusals.cases import (
    BINARY,
    CONVOLUTION,
    ITERATOR,
    RECURRENT,
    Table,
    allowed,
    generated,
    issue,
    iterator,
    says,
)

table = Table()
row = table.row
DENSE = "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same"
ON_CPU = "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"


def cuda(*shape: int) -> Tensor:
    """Random numbers on the device."""
    return torch.randn(*shape, device="cuda")


def number() -> Tensor:
    """A 0-dimensional one."""
    return torch.randn((), device="cuda")


def classes(*shape: int, device: str = "cuda") -> Tensor:
    """Class numbers below 3."""
    return torch.zeros(*shape, dtype=torch.long, device=device)


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


@row(generated("mat2", "cpu", "cuda:0", "wrapper_CUDA_bmm"), BINARY)
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


# -- normalisation ---------------------------------------------------------------------------------------------------


@row(generated("weight", "cpu", "cuda:0", "wrapper_CUDA__cudnn_batch_norm"), BINARY)
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


@row(generated("weight", "cuda:0", "cpu", "wrapper_CUDA__native_batch_norm"), BINARY)
def batch_norm_with_a_cpu_batch() -> Tensor:
    """cuDNN takes only what is on the device; this is torch's own."""
    return nn.BatchNorm2d(3).cuda()(torch.randn(2, 3, 4, 4))


@row(generated("weight", "cpu", "cuda:0", "wrapper_CUDA__native_batch_norm"), BINARY)
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
    """As layer normalisation."""
    return nn.GroupNorm(2, 4)(cuda(3, 4, 5))


@row(generated("weight", "cpu", "cuda:0", "wrapper_CUDA___prelu_kernel"), BINARY)
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


# -- losses ----------------------------------------------------------------------------------------------------------


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


# -- recurrent layers and attention ----------------------------------------------------------------------------------


@row(
    says("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    issue("Lightning-AI/pytorch-lightning/issues/3738"),
)
def lstm_with_a_cpu_state() -> Tensor:
    """A state made by hand."""
    state = torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)
    return nn.LSTM(3, 4).cuda()(cuda(5, 2, 3), state)[0]


@row(
    says("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    issue("talipucar/CPC/issues/1"),
)
def gru_with_a_cpu_state() -> Tensor:
    """A state made by hand."""
    return nn.GRU(3, 4).cuda()(cuda(5, 2, 3), torch.zeros(1, 2, 4))[0]


@row(
    says("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    RECURRENT,
)
def rnn_with_a_cpu_state() -> Tensor:
    """A state made by hand."""
    return nn.RNN(3, 4).cuda()(cuda(5, 2, 3), torch.zeros(1, 2, 4))[0]


@row(
    says(
        "Input and parameter tensors are not at the same device, found input tensor at cpu and parameter tensor at cuda"
    ),
    RECURRENT,
)
def lstm_with_a_cpu_batch() -> Tensor:
    """The state that torch makes is where the input is, so the parameters are found."""
    return nn.LSTM(3, 4).cuda()(torch.randn(5, 2, 3))[0]


@row(
    says(
        "Input and parameter tensors are not at the same device, found input tensor at cuda:0 and parameter tensor "
        "at cpu"
    ),
    RECURRENT,
)
def lstm_left_on_the_cpu() -> Tensor:
    """The other way round."""
    return nn.LSTM(3, 4)(cuda(5, 2, 3))[0]


@row(
    says(
        "Input and parameter tensors are not at the same device, found input tensor at cuda:0 and parameter tensor "
        "at cpu"
    ),
    RECURRENT,
)
def packed_lstm_left_on_the_cpu() -> Tensor:
    """Packed sequences are checked alike."""
    packed = nn.utils.rnn.pack_padded_sequence(cuda(5, 2, 3), torch.tensor([5, 3]))
    return nn.LSTM(3, 4)(packed)[0].data


@row(generated("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"), BINARY)
def gru_cell_with_a_cpu_state() -> Tensor:
    """On CUDA a cell is two products and a kernel."""
    return nn.GRUCell(3, 4).cuda()(cuda(2, 3), torch.zeros(2, 4))


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"), BINARY)
def lstm_cell_with_a_cpu_batch() -> Tensor:
    """On the CPU a cell is made of linear layers."""
    return nn.LSTMCell(3, 4).cuda()(torch.randn(2, 3))[0]


@row(
    says("'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"),
    issue("pytorch/pytorch/issues/43227"),
)
def packed_lengths_on_the_device() -> Tensor:
    """Lengths of sequences must be on the CPU."""
    return nn.utils.rnn.pack_padded_sequence(cuda(5, 2, 3), torch.tensor([5, 3], device="cuda")).data


@row(allowed(), issue("pytorch/pytorch/issues/43227"))
def packed_lengths_on_the_cpu() -> Tensor:
    """And there they are welcome."""
    return nn.utils.rnn.pack_padded_sequence(cuda(5, 2, 3), torch.tensor([5, 3])).data


@row(
    says("Expected query, key, and value to have the same device type, but got query.device: cpu key.device: cuda:0"),
    BINARY,
)
def attention_with_a_cpu_query() -> Tensor:
    """The function itself."""
    return F.scaled_dot_product_attention(torch.randn(1, 2, 4, 8), cuda(1, 2, 4, 8), cuda(1, 2, 4, 8))


@row(says("Expected all tensors to be on the same device, but "), BINARY)
def attention_with_a_cpu_mask() -> Tensor:
    """Which implementation complains depends on the GPU; they agree on the first words."""
    heads = cuda(1, 2, 4, 8)
    return F.scaled_dot_product_attention(heads, heads, heads, torch.ones(4, 4, dtype=torch.bool))


@row(generated("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"))
def multihead_attention_with_a_cpu_query() -> Tensor:
    """The projections come first; with batches first they are products without their bias."""
    other = cuda(2, 3, 4)
    return nn.MultiheadAttention(4, 2, batch_first=True).cuda()(torch.randn(2, 3, 4), other, other)[0]


@row(says("Expected all tensors to be on the same device, but "), BINARY)
def encoder_layer_with_a_cpu_mask() -> Tensor:
    """A causal mask made on the CPU."""
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True).cuda()
    return layer(cuda(2, 4, 8), src_mask=nn.Transformer.generate_square_subsequent_mask(4, device=torch.device("cpu")))


@row(iterator(), issue("lanyunshi/Multi-hopComplexKBQA/issues/25"))
def attention_scores_plus_a_cpu_mask() -> Tensor:
    """Attention by hand."""
    return cuda(2, 4, 4) + torch.zeros(4, 4)


@row(generated("grid", "cpu", "cuda:0", "wrapper_CUDA__grid_sampler_2d"), issue("SamsungLabs/rome/issues/27"))
def grid_sample_with_a_cpu_grid() -> Tensor:
    """Images on the device, sampling grid left behind."""
    return F.grid_sample(cuda(1, 1, 4, 4), torch.zeros(1, 2, 2, 2), align_corners=False)
