"""Random state, mode and gradients come back too; each branch gets an x of its own."""

CELLS = {
    "parallel_block": """
class ParallelBlock(nn.Module):
    def __init__(self, branches, mode="sum"):
        super().__init__()
        if mode not in ("sum", "cat"):
            raise ValueError(mode)
        self.mode = mode
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        results = [branch(x.clone()) for branch in self.branches]
        return torch.cat(results, dim=-1) if self.mode == "cat" else torch.stack(results).sum(dim=0)
""",
    "snapshot": """
def snapshot(model, optimizer):
    gradients = [copy.deepcopy(p.grad) for p in model.parameters()]
    states = copy.deepcopy([model.state_dict(), optimizer.state_dict()])
    return states, gradients, model.training, torch.get_rng_state()


def restore(model, optimizer, saved):
    states, gradients, mode, chance = copy.deepcopy(saved)
    model.load_state_dict(states[0])
    optimizer.load_state_dict(states[1])
    for p, gradient in zip(model.parameters(), gradients):
        p.grad = gradient
    model.train(mode)
    torch.set_rng_state(chance)
""",
}
