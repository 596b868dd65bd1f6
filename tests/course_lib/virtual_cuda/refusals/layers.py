"""Rows: layers, sequences, attention and losses, with their input or their parameters on the wrong device."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.course_lib.virtual_cuda.refusals.cases import (
    CONVOLUTION,
    COPY,
    ITERATOR,
    PYTHON,
    RECURRENT,
    UNSURE,
    Table,
    allowed,
    classes,
    cuda,
    generated,
    issue,
    iterator,
    native,
    number,
    says,
)

table = Table()
row, add = table.row, table.add
# A row takes two lines or three; ruff would give each of its parts one.
# fmt: off
# layers ---------------------------------------------------------------------------------------------------------------
DENSE = "Input type (torch.FloatTensor) and weight type (torch.cuda.FloatTensor) should be the same"
ON_CPU = "Input type (torch.cuda.FloatTensor) and weight type (torch.FloatTensor) should be the same"

# linear
add("linear_with_a_cpu_batch", "The commonest mistake: the model is on the device, the batch is not.",
    generated("mat1", "cpu", "cuda:0", "addmm"), lambda: nn.Linear(4, 2).cuda()(torch.randn(3, 4)),
    issue("ClownsharkBatwing/RES4LYF/pull/223"))
add("linear_left_on_the_cpu", "The batch is on the device, the model is not.",
    generated("mat1", "cuda:0", "cpu", "addmm"), lambda: nn.Linear(4, 2)(cuda(3, 4)),
    issue("haotian-liu/LLaVA/issues/1081"))
add("linear_without_bias_with_a_cpu_batch", "Without a bias there is no addition, and another operator complains.",
    generated("mat2", "cuda:0", "cpu", "mm"), lambda: nn.Linear(4, 2, bias=False).cuda()(torch.randn(3, 4)))
add("linear_without_bias_left_on_the_cpu", "The weight is the second matrix.", generated("mat2", "cpu", "cuda:0", "mm"),
    lambda: nn.Linear(4, 2, bias=False)(cuda(3, 4)), issue("Lightricks/LTX-Video/issues/24"))
add("linear_with_a_cpu_batch_of_sequences", "Three dimensions are made two first.",
    generated("mat1", "cpu", "cuda:0", "addmm"), lambda: nn.Linear(4, 2).cuda()(torch.randn(2, 3, 4)))
add("linear_under_no_grad_with_a_cpu_batch", "Inference mode changes nothing.",
    generated("mat1", "cpu", "cuda:0", "addmm"),
    lambda: torch.inference_mode()(nn.Linear(4, 2).cuda().eval())(torch.randn(3, 4)))
add("linear_on_another_device", "Two devices do not mix either.", generated("mat1", "cuda:1", "cuda:0", "addmm"),
    lambda: nn.Linear(4, 2).to("cuda:0")(torch.randn(3, 4, device="cuda:1")), devices=2)
add("sequential_whose_batch_is_on_the_cpu", "The first layer complains, whatever follows.",
    generated("mat1", "cpu", "cuda:0", "addmm"),
    lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1)).cuda()(torch.randn(3, 4)))

def attention() -> nn.Module:
    """On the device."""
    return nn.MultiheadAttention(4, 2, batch_first=True).cuda()

class Plus(nn.Module):
    """Adds a table, which is a plain attribute, or a buffer."""

    def __init__(self, table: Tensor, buffer: bool = False) -> None:
        super().__init__()
        if buffer:
            self.register_buffer("table", table)
        else:
            self.table = table

    def forward(self, batch: Tensor) -> Tensor:
        return batch + self.table

class Listed(nn.Module):
    """A layer, and one in a plain list."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.rest = nn.Linear(4, 4), [nn.Linear(4, 2)]

    def forward(self, batch: Tensor) -> Tensor:
        return self.rest[0](self.first(batch))

add("layers_in_a_plain_list", "`.cuda()` does not find what is in a Python list.",
    generated("mat1", "cuda:0", "cpu", "addmm"), lambda: Listed().cuda()(cuda(3, 4)))
add("attribute_that_is_no_buffer", "`.cuda()` does not find a plain tensor attribute either.", iterator(),
    lambda: Plus(torch.ones(4)).cuda()(cuda(3, 4)), ITERATOR)
add("dot_of_mixed_vectors", "Vectors as well as matrices.", generated("tensor", "cpu", "cuda:0", "_dot"),
    lambda: torch.dot(cuda(3), torch.randn(3)))
add("bilinear_with_a_cpu_input", "Two inputs, one of them left behind.", generated("mat2", "cpu", "cuda:0", "bmm"),
    lambda: nn.Bilinear(3, 4, 2).cuda()(cuda(5, 3), torch.randn(5, 4)),
    native("aten/src/ATen/native/Linear.cpp", "_trilinear"))

# convolution
add("conv2d_with_a_cpu_batch", "Convolutions compare types, not devices.", says(DENSE),
    lambda: nn.Conv2d(3, 4, 3).cuda()(torch.randn(2, 3, 8, 8)),
    issue("yeyupiaoling/AudioClassification-Pytorch/issues/1"))
add("conv2d_left_on_the_cpu", "The other way round.", says(ON_CPU),
    lambda: nn.Conv2d(3, 4, 3)(cuda(2, 3, 8, 8)), issue("ML4ITS/mtad-gat-pytorch/issues/23"))
add("conv1d_with_a_cpu_batch", "One dimension.", says(DENSE),
    lambda: nn.Conv1d(3, 4, 3).cuda()(torch.randn(2, 3, 8)), CONVOLUTION)
add("conv1d_left_on_the_cpu", "One dimension, the other way round.", says(ON_CPU),
    lambda: nn.Conv1d(3, 4, 3)(cuda(2, 3, 8)), CONVOLUTION)
add("conv3d_with_a_cpu_batch", "Three dimensions.", says(DENSE),
    lambda: nn.Conv3d(3, 4, 3).cuda()(torch.randn(2, 3, 4, 8, 8)), CONVOLUTION)
add("conv_transpose2d_left_on_the_cpu", "Transposed.", says(ON_CPU),
    lambda: nn.ConvTranspose2d(3, 4, 3)(cuda(2, 3, 8, 8)), CONVOLUTION)
add("conv_transpose2d_with_a_cpu_batch", "Transposed, the other way round.", says(DENSE),
    lambda: nn.ConvTranspose2d(3, 4, 3).cuda()(torch.randn(2, 3, 8, 8)), CONVOLUTION)
add("conv2d_with_a_cpu_bias", "Only the bias was left behind.",
    says("Input type (torch.cuda.FloatTensor) and bias type (torch.FloatTensor) should be the same"),
    lambda: F.conv2d(cuda(2, 3, 8, 8), cuda(4, 3, 3, 3), torch.zeros(4)), CONVOLUTION)
add("conv2d_left_on_the_cpu_with_halves", "The types named are those of the tensors.",
    says("Input type (torch.cuda.HalfTensor) and weight type (torch.FloatTensor) should be the same"),
    lambda: nn.Conv2d(3, 4, 3, bias=False)(cuda(2, 3, 8, 8).half()), CONVOLUTION)
add("conv2d_on_another_device", "Two devices have one type, so the check is cuDNN's.",
    generated("weight", "cuda:1", "cuda:0", "_cudnn_convolution"),
    lambda: nn.Conv2d(3, 4, 3).to("cuda:1")(torch.randn(2, 3, 8, 8, device="cuda:0")),
    issue("zhiheLu/CWT-for-FSS/issues/12"), devices=2)

# normalization
add("batch_norm_left_on_the_cpu", "For images it is cuDNN's.",
    generated("weight", "cpu", "cuda:0", "_cudnn_batch_norm"), lambda: nn.BatchNorm2d(3)(cuda(2, 3, 4, 4)),
    native("aten/src/ATen/native/Normalization.cpp", "_select_batch_norm_backend"))

@row(
    generated("running_mean", "cpu", "cuda:0", "_cudnn_batch_norm"),
    issue("foamliu/MobileFaceNet/issues/6"),
)
def batch_norm_with_cpu_statistics() -> Tensor:
    """Parameters on the device, running statistics left behind."""
    norm = nn.BatchNorm2d(3)
    norm.weight.data, norm.bias.data = norm.weight.data.cuda(), norm.bias.data.cuda()
    return norm(cuda(2, 3, 4, 4))

add("batch_norm_with_a_cpu_batch", "cuDNN takes only what is on the device; this is torch's own.",
    generated("weight", "cuda:0", "cpu", "_native_batch_norm"),
    lambda: nn.BatchNorm2d(3).cuda()(torch.randn(2, 3, 4, 4)),
    native("aten/src/ATen/native/Normalization.cpp", "_select_batch_norm_backend"))
add("batch_norm_of_vectors_left_on_the_cpu", "For vectors it is torch's own.",
    generated("weight", "cpu", "cuda:0", "_native_batch_norm"), lambda: nn.BatchNorm1d(3)(cuda(4, 3)),
    native("aten/src/ATen/native/Normalization.cpp", "_select_batch_norm_backend"))
add("layer_norm_left_on_the_cpu", "The weight is the first that is elsewhere.",
    generated("weight", "cpu", "cuda:0", "_native_layer_norm"), lambda: nn.LayerNorm(4)(cuda(3, 4)),
    issue("sipie800/ComfyUI-PuLID-Flux-Enhanced/issues/35"))
add("layer_norm_with_a_cpu_batch", "The other way round.", generated("weight", "cuda:0", "cpu", "_native_layer_norm"),
    lambda: nn.LayerNorm(4).cuda()(torch.randn(3, 4)), issue("Jamie-Stirling/RetNet/issues/27"))
add("group_norm_left_on_the_cpu", "As layer normalization.", generated("weight", "cpu", "cuda:0", "_native_group_norm"),
    lambda: nn.GroupNorm(2, 4)(cuda(3, 4, 5)))
add("prelu_left_on_the_cpu", "An activation with a parameter.", generated("weight", "cpu", "cuda:0", "__prelu_kernel"),
    lambda: nn.PReLU()(cuda(3, 4)))

# embedding
add("embedding_with_cpu_tokens", "Looking up is selecting rows.", generated("index", "cpu", "cuda:0", "_index_select"),
    lambda: nn.Embedding(5, 4).cuda()(torch.tensor([1, 2])), issue("pengzhendong/streaming-sensevoice/issues/3"))
add("embedding_left_on_the_cpu", "The other way round.", generated("index", "cuda:0", "cpu", "_index_select"),
    lambda: nn.Embedding(5, 4)(torch.tensor([1, 2], device="cuda")), issue("dotnet/TorchSharp/issues/639"))
add("embedding_bag_with_cpu_tokens", "Bags have an operator of their own.",
    generated("indices", "cpu", "cuda:0", "__embedding_bag"),
    lambda: nn.EmbeddingBag(5, 4).cuda()(torch.tensor([[1, 2], [3, 4]])))
add("embedding_bag_left_on_the_cpu", "The other way round.", generated("indices", "cuda:0", "cpu", "__embedding_bag"),
    lambda: nn.EmbeddingBag(5, 4)(torch.tensor([[1, 2], [3, 4]], device="cuda")))
add("one_hot_by_scatter_with_cpu_classes", "Classes written into a table on the device.",
    generated("index", "cpu", "cuda:0", "scatter__value"),
    lambda: torch.zeros(2, 3, device="cuda").scatter_(1, torch.tensor([[0], [2]]), 1.0),
    issue("zhongyy/Face-Transformer/issues/37"))
add("grid_sample_with_a_cpu_grid", "Images on the device, sampling grid left behind.",
    generated("grid", "cpu", "cuda:0", "_grid_sampler_2d"),
    lambda: F.grid_sample(cuda(1, 1, 4, 4), torch.zeros(1, 2, 2, 2), align_corners=False),
    issue("SamsungLabs/rome/issues/27"))

@row(generated("mat1", "cpu", "cuda:0", "addmm"), PYTHON)

def batch_whose_copy_was_dropped() -> Tensor:
    """`.to` moves a module, but of a tensor it makes a copy."""
    model, batch = nn.Linear(4, 2), torch.randn(3, 4)
    model.to("cuda")
    batch.to("cuda")
    return model(batch)

add("attribute_that_is_a_buffer", "`.cuda()` finds it.", allowed(),
    lambda: Plus(torch.ones(4), buffer=True).cuda()(cuda(3, 4)), PYTHON)
add("noise_for_a_generator_made_on_the_cpu", "The generator of a GAN is fed by `randn`.",
    generated("mat1", "cpu", "cuda:0", "addmm"),
    lambda: nn.Sequential(nn.Linear(8, 4), nn.Tanh()).cuda()(torch.randn(2, 8)))

# losses ---------------------------------------------------------------------------------------------------------------
add("cross_entropy_with_a_cpu_target", "The second commonest mistake: the labels stayed behind.",
    generated("target", "cpu", "cuda:0", "nll_loss_forward"),
    lambda: F.cross_entropy(cuda(4, 3), classes(4, device="cpu")))
add("cross_entropy_with_cpu_logits", "The other way round.", generated("target", "cuda:0", "cpu", "nll_loss_forward"),
    lambda: F.cross_entropy(torch.randn(4, 3), classes(4)))
add("cross_entropy_with_cpu_class_weights", "A loss has a buffer too, and must be moved with the model.",
    generated("weight", "cpu", "cuda:0", "nll_loss_forward"),
    lambda: nn.CrossEntropyLoss(weight=torch.ones(3))(cuda(4, 3), classes(4)), issue("pytorch/pytorch/pull/155085"))
add("cross_entropy_with_cpu_probabilities", "Probabilities as targets are multiplied.", iterator(),
    lambda: F.cross_entropy(cuda(4, 3), torch.full((4, 3), 1 / 3)), ITERATOR)
add("nll_loss_with_a_cpu_target", "The loss that cross entropy is made of.",
    generated("target", "cpu", "cuda:0", "nll_loss_forward"),
    lambda: F.nll_loss(cuda(4, 3).log_softmax(1), classes(4, device="cpu")))
add("cross_entropy_of_images_with_a_cpu_target", "A class for each pixel.",
    generated("target", "cpu", "cuda:0", "_nll_loss2d_forward"),
    lambda: F.cross_entropy(cuda(2, 3, 4, 4), classes(2, 4, 4, device="cpu")))
add("mse_loss_with_a_cpu_target", "Element by element.", iterator(),
    lambda: F.mse_loss(cuda(4), torch.randn(4)), ITERATOR)
add("l1_loss_with_a_cpu_target", "A difference.", iterator(), lambda: F.l1_loss(cuda(4), torch.randn(4)), ITERATOR)
add("smooth_l1_loss_with_a_cpu_target", "Element by element.", iterator(),
    lambda: F.smooth_l1_loss(cuda(4), torch.randn(4)), ITERATOR)
add("huber_loss_with_a_cpu_target", "Element by element, but with a generated check.",
    generated("target", "cpu", "cuda:0", "_huber_loss"), lambda: F.huber_loss(cuda(4), torch.randn(4)))
add("binary_cross_entropy_with_a_cpu_target", "Probabilities of one class.", iterator(),
    lambda: F.binary_cross_entropy(cuda(4).sigmoid(), torch.ones(4)), ITERATOR)
add("binary_cross_entropy_of_logits_with_a_cpu_target", "Logits of one class.", iterator(),
    lambda: F.binary_cross_entropy_with_logits(cuda(4), torch.ones(4)), ITERATOR)
add("binary_cross_entropy_with_a_cpu_pos_weight", "A weight in a loss that was not moved.", iterator(),
    lambda: nn.BCEWithLogitsLoss(pos_weight=torch.tensor([2.0, 3.0]))(cuda(4, 2), torch.ones(4, 2, device="cuda")),
    ITERATOR)
add("kl_div_with_a_cpu_target", "A product of elements.", iterator(),
    lambda: F.kl_div(cuda(4, 3).log_softmax(1), torch.full((4, 3), 1 / 3), reduction="batchmean"), ITERATOR)
add("mse_loss_with_a_cpu_number", "A 0-dimensional CPU tensor is a number.", allowed(),
    lambda: F.mse_loss(number(), torch.tensor(1.0)), ITERATOR)
add("binary_cross_entropy_with_a_cpu_weight", "A weight for each sample.", iterator(),
    lambda: F.binary_cross_entropy(cuda(4).sigmoid(), torch.ones(4, device="cuda"), weight=torch.full((4,), 0.5)),
    ITERATOR)
add("cross_entropy_moved_with_its_weights", "A loss is a module, and moves as one.", allowed(),
    lambda: nn.CrossEntropyLoss(weight=torch.ones(3)).cuda()(cuda(4, 3), classes(4)), PYTHON)
add("count_of_right_answers_on_the_cpu", "Everything is copied first.", allowed("cpu"),
    lambda: (cuda(4, 3).argmax(1).cpu() == classes(4, device="cpu")).sum(), COPY)

# sequences ------------------------------------------------------------------------------------------------------------
add("lstm_with_a_cpu_state", "A state made by hand.",
    says("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    lambda: nn.LSTM(3, 4).cuda()(cuda(5, 2, 3), (torch.zeros(1, 2, 4), torch.zeros(1, 2, 4)))[0],
    issue("Lightning-AI/pytorch-lightning/issues/3738"))
add("gru_with_a_cpu_state", "A state made by hand.",
    says("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    lambda: nn.GRU(3, 4).cuda()(cuda(5, 2, 3), torch.zeros(1, 2, 4))[0], issue("talipucar/CPC/issues/1"))
add("rnn_with_a_cpu_state", "A state made by hand.",
    says("Input and hidden tensors are not at the same device, found input tensor at cuda:0 and hidden tensor at cpu"),
    lambda: nn.RNN(3, 4).cuda()(cuda(5, 2, 3), torch.zeros(1, 2, 4))[0], RECURRENT)
add("lstm_with_a_cpu_batch", "The state that torch makes is where the input is, so the parameters are found.",
    says("Input and parameter tensors are not at the same device, found input tensor at cpu "
         "and parameter tensor at cuda"),
    lambda: nn.LSTM(3, 4).cuda()(torch.randn(5, 2, 3))[0], RECURRENT)
add("lstm_left_on_the_cpu", "The other way round.",
    says("Input and parameter tensors are not at the same device, found input tensor at cuda:0 and parameter tensor "
         "at cpu"),
    lambda: nn.LSTM(3, 4)(cuda(5, 2, 3))[0], RECURRENT)
add("packed_lstm_left_on_the_cpu", "Packed sequences are checked alike.",
    says("Input and parameter tensors are not at the same device, found input tensor at cuda:0 and parameter tensor "
         "at cpu"),
    lambda: nn.LSTM(3, 4)(nn.utils.rnn.pack_padded_sequence(cuda(5, 2, 3), torch.tensor([5, 3])))[0].data, RECURRENT)
add("gru_cell_with_a_cpu_state", "On CUDA a cell is two products and a kernel.",
    generated("mat2", "cuda:0", "cpu", "mm"), lambda: nn.GRUCell(3, 4).cuda()(cuda(2, 3), torch.zeros(2, 4)),
    native("aten/src/ATen/native/RNN.cpp", "GRUCell"))
add("lstm_cell_with_a_cpu_batch", "On the CPU a cell is made of linear layers.",
    generated("mat1", "cpu", "cuda:0", "addmm"), lambda: nn.LSTMCell(3, 4).cuda()(torch.randn(2, 3))[0],
    native("aten/src/ATen/native/RNN.cpp", "LSTMCell"))
add("packed_lengths_on_the_device", "Lengths of sequences must be on the CPU.",
    says("'lengths' argument should be a 1D CPU int64 tensor, but got 1D cuda:0 Long tensor"),
    lambda: nn.utils.rnn.pack_padded_sequence(cuda(5, 2, 3), torch.tensor([5, 3], device="cuda")).data,
    issue("pytorch/pytorch/issues/43227"))
add("packed_lengths_on_the_cpu", "And there they are welcome.", allowed(),
    lambda: nn.utils.rnn.pack_padded_sequence(cuda(5, 2, 3), torch.tensor([5, 3])).data,
    issue("pytorch/pytorch/issues/43227"))
add("attention_with_a_cpu_query", "The function itself.",
    says("Expected query, key, and value to have the same device type, but got query.device: cpu key.device: cuda:0"),
    lambda: F.scaled_dot_product_attention(torch.randn(1, 2, 4, 8), cuda(1, 2, 4, 8), cuda(1, 2, 4, 8)),
    native("aten/src/ATen/native/transformers/attention.cpp", "validate_sdpa_input"))
add("attention_with_a_cpu_mask", "Which implementation complains depends on the GPU; they agree on the first words.",
    says("Expected all tensors to be on the same device, but "),
    lambda: F.scaled_dot_product_attention(*[cuda(1, 2, 4, 8)] * 3, torch.ones(4, 4, dtype=torch.bool)), UNSURE)
add("multihead_attention_with_a_cpu_query",
    "The projections come first; with batches first they are products without their bias.",
    generated("mat2", "cuda:0", "cpu", "mm"), lambda: attention()(torch.randn(2, 3, 4), *[cuda(2, 3, 4)] * 2)[0])
add("encoder_layer_with_a_cpu_mask", "A causal mask made on the CPU.",
    says("Expected all tensors to be on the same device, but "),
    lambda: nn.TransformerEncoderLayer(8, 2, batch_first=True).cuda()(
        cuda(2, 4, 8), src_mask=nn.Transformer.generate_square_subsequent_mask(4, device=torch.device("cpu"))), UNSURE)
add("attention_scores_plus_a_cpu_mask", "Attention by hand.", iterator(),
    lambda: cuda(2, 4, 4) + torch.zeros(4, 4), issue("lanyunshi/Multi-hopComplexKBQA/issues/25"))
add("lstm_without_a_state", "The state that torch makes is where the input is.", allowed(),
    lambda: nn.LSTM(3, 4).cuda()(cuda(5, 2, 3))[0], RECURRENT)
add("multihead_attention_with_a_cpu_mask", "With the weights asked for, the mask is what the scores are added to.",
    generated("batch1", "cuda:0", "cpu", "baddbmm"),
    lambda: attention()(*[cuda(2, 3, 4)] * 3, attn_mask=torch.ones(3, 3, dtype=torch.bool).triu(1))[0])
add("multihead_attention_with_cpu_padding", "Padding is made a mask.", generated("batch1", "cuda:0", "cpu", "baddbmm"),
    lambda: attention()(*[cuda(2, 3, 4)] * 3, key_padding_mask=torch.tensor([[False, False, True], [False] * 3]))[0])
add("positional_encoding_left_on_the_cpu", "A table of sines in a plain attribute.", iterator(),
    lambda: Plus(torch.sin(torch.arange(6.0).reshape(1, 3, 2))).cuda()(cuda(2, 3, 2)), ITERATOR)
add("positions_made_on_the_cpu", "Learned positions are looked up by an `arange`.",
    generated("index", "cpu", "cuda:0", "_index_select"), lambda: nn.Embedding(8, 2).cuda()(torch.arange(3)))
