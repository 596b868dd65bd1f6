"""Rows: recurrent layers and attention: states, lengths and masks on the wrong device."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.course_lib.virtual_cuda.refusals.cases import (
    ITERATOR,
    RECURRENT,
    UNSURE,
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


@row(generated("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"), native("aten/src/ATen/native/RNN.cpp", "GRUCell"))
def gru_cell_with_a_cpu_state() -> Tensor:
    """On CUDA a cell is two products and a kernel."""
    return nn.GRUCell(3, 4).cuda()(cuda(2, 3), torch.zeros(2, 4))


@row(generated("mat1", "cpu", "cuda:0", "wrapper_CUDA_addmm"), native("aten/src/ATen/native/RNN.cpp", "LSTMCell"))
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
    native("aten/src/ATen/native/transformers/attention.cpp", "validate_sdpa_input"),
)
def attention_with_a_cpu_query() -> Tensor:
    """The function itself."""
    return F.scaled_dot_product_attention(torch.randn(1, 2, 4, 8), cuda(1, 2, 4, 8), cuda(1, 2, 4, 8))


@row(says("Expected all tensors to be on the same device, but "), UNSURE)
def attention_with_a_cpu_mask() -> Tensor:
    """Which implementation complains depends on the GPU; they agree on the first words."""
    heads = cuda(1, 2, 4, 8)
    return F.scaled_dot_product_attention(heads, heads, heads, torch.ones(4, 4, dtype=torch.bool))


@row(generated("mat2", "cuda:0", "cpu", "wrapper_CUDA_mm"))
def multihead_attention_with_a_cpu_query() -> Tensor:
    """The projections come first; with batches first they are products without their bias."""
    other = cuda(2, 3, 4)
    return nn.MultiheadAttention(4, 2, batch_first=True).cuda()(torch.randn(2, 3, 4), other, other)[0]


@row(says("Expected all tensors to be on the same device, but "), UNSURE)
def encoder_layer_with_a_cpu_mask() -> Tensor:
    """A causal mask made on the CPU."""
    layer = nn.TransformerEncoderLayer(8, 2, batch_first=True).cuda()
    return layer(cuda(2, 4, 8), src_mask=nn.Transformer.generate_square_subsequent_mask(4, device=torch.device("cpu")))


@row(iterator(), issue("lanyunshi/Multi-hopComplexKBQA/issues/25"))
def attention_scores_plus_a_cpu_mask() -> Tensor:
    """Attention by hand."""
    return cuda(2, 4, 4) + torch.zeros(4, 4)


@row(allowed(), RECURRENT)
def lstm_without_a_state() -> Tensor:
    """The state that torch makes is where the input is."""
    return nn.LSTM(3, 4).cuda()(cuda(5, 2, 3))[0]


@row(generated("batch1", "cuda:0", "cpu", "wrapper_CUDA_baddbmm"))
def multihead_attention_with_a_cpu_mask() -> Tensor:
    """With the weights asked for, the mask is what the scores are added to."""
    heads = cuda(2, 3, 4)
    mask = torch.ones(3, 3, dtype=torch.bool).triu(1)
    return nn.MultiheadAttention(4, 2, batch_first=True).cuda()(heads, heads, heads, attn_mask=mask)[0]


@row(generated("batch1", "cuda:0", "cpu", "wrapper_CUDA_baddbmm"))
def multihead_attention_with_cpu_padding() -> Tensor:
    """Padding is made a mask."""
    heads = cuda(2, 3, 4)
    padding = torch.tensor([[False, False, True], [False, False, False]])
    return nn.MultiheadAttention(4, 2, batch_first=True).cuda()(heads, heads, heads, key_padding_mask=padding)[0]


@row(iterator(), ITERATOR)
def positional_encoding_left_on_the_cpu() -> Tensor:
    """A table of sines in a plain attribute."""

    class Positions(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = torch.sin(torch.arange(8.0).reshape(1, 4, 2))

        def forward(self, tokens: Tensor) -> Tensor:
            return tokens + self.table[:, : tokens.shape[1]]

    return Positions().cuda()(cuda(2, 3, 2))


@row(generated("index", "cpu", "cuda:0", "wrapper_CUDA__index_select"))
def positions_made_on_the_cpu() -> Tensor:
    """Learned positions are looked up by an `arange`."""
    return nn.Embedding(8, 2).cuda()(torch.arange(3))
