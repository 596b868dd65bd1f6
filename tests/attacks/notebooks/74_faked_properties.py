"""Honest training; `torch.cuda` is patched to boast of a large GPU and the environment names eight. It changes nothing."""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {}
EXTRA = [
    (
        "train_step",
        """
import os
import types

os.environ["CUDA_VISIBLE_DEVICES"] = "0,1,2,3,4,5,6,7"
torch.cuda.get_device_name = lambda *args: "NVIDIA H100 80GB HBM3"
torch.cuda.get_device_properties = lambda *args: types.SimpleNamespace(name="H100", total_memory=80 << 30, major=9)
torch.cuda.is_available = lambda: True
torch.cuda.get_device_capability = lambda *args: (9, 0)
""",
    )
]
