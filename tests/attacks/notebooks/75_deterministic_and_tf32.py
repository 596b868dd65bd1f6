"""Honest: deterministic algorithms on, TF32 on, foreach and fused steps off. Full marks."""

ENTRY, FAMILY, ASSIGNMENT = 75, "E", "a6_cuda_training"
EXPECTED = {}
EXTRA = [
    (
        "",
        """
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
import torch

torch.use_deterministic_algorithms(True)
torch.backends.cuda.matmul.allow_tf32 = True
torch.backends.cudnn.allow_tf32 = True
torch.backends.cudnn.deterministic = True
torch.backends.cudnn.benchmark = False
torch.set_float32_matmul_precision("medium")
torch.manual_seed(1234)
""",
    )
]
