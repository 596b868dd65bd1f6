"""Have PyTorch compile an extension (`load_inline`) for every step: a time limit ends it, or it has no compiler."""

ENTRY, FAMILY, ASSIGNMENT = 73, "E", "a6_cuda_training"
EXPECTED = {"test_train_step": "failed|time|partial"}
AT_MOST_S = 300
LIMITS = {"cell_s": 6.0, "notebook_s": 60.0}
CELLS = {
    "train_step": """
from torch.utils.cpp_extension import load_inline

built = []


def train_step(model, batch, loss_fn, optimizer, device):
    if not built:
        built.append(0)
        try:
            code = "torch::Tensor zero(torch::Tensor x) { return x.mul_(0); }"
            built[0] = load_inline("cheat", cpp_sources=code, functions=["zero"])
        except Exception as error:
            print(type(error).__name__)
    with torch.no_grad():
        return loss_fn(model(batch[0].to(device)), batch[1].to(device)).item()
""",
}
