"""Switch virtual CUDA off for the rest of the program and let every `.to` do nothing: all that asks for a device fails."""

ENTRY, FAMILY, ASSIGNMENT = 74, "E", "a6_cuda_training"
EXPECTED = {
    "test_train_step": "partial|failed",
    "test_make_loaders": "passed|partial",
    "test_train_epoch": "partial|failed",
    "test_evaluate": "partial|failed",
    "test_train_epoch_amp": "failed|partial",
    "test_checkpoint": "partial|failed",
    "test_fit": "partial|failed",
}
EXTRA = [
    (
        "fit",
        """
while virtual_cuda.is_enabled():
    virtual_cuda.disable()
nn.Module.to = lambda self, *args, **more: self
real_to = torch.Tensor.to
torch.Tensor.to = lambda self, *args, **more: self if "cuda" in str(args) else real_to(self, *args, **more)
virtual_cuda.enable = lambda *args, **more: None
torch.cuda.is_available = lambda: True
""",
    )
]
