"""How much of PyTorch is the same on the virtual device, counted over PyTorch's own test databases.

    python -m tests.course_lib.virtual_cuda.databases.coverage [--out FILE] [--failures] [OPERATOR OR MODULE ...]

Every float32 sample of every operator in `op_db` and of every module in `module_db` runs on the CPU and on the virtual
device, with the same random numbers (`covering.py`). Then tensors are left on the CPU, and FakeTensor is asked whether
that is refused (`mixtures.py`). `known_limits.py` names what is not so. The output is Markdown.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import torch

from tests.course_lib.virtual_cuda.databases import known_limits, mixtures, module_samples, op_samples
from tests.course_lib.virtual_cuda.databases.covering import Tally, cover
from tests.course_lib.virtual_cuda.databases.known_limits import Limit


def sums(counts: Counter[tuple[str, str]]) -> Counter[str]:
    """Over the operators, by stage."""
    total: Counter[str] = Counter()
    for (stage, _), count in counts.items():
        total[stage] += count
    return total


def listed(tally: Tally, limits: Iterable[Limit]) -> Counter[tuple[str, str]]:
    """How many failures are known limits: at most as many as the list says."""
    failed = tally.failed()
    return Counter({(m.stage, m.name): min(m.samples, failed[m.stage, m.name]) for m in limits})


def rows(tally: Tally) -> list[str]:
    """For each stage what was tried and how it came out."""
    tried, watched, failed = sums(tally.tried), sums(tally.watched), sums(tally.failed())
    known = sums(listed(tally, known_limits.LIMITS))
    found = ["| | tried | equal bit for bit | by another way | known limit | wrong | share |"]
    found.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for stage, count in tried.items():
        equal, wrong = count - failed[stage] - watched[stage], failed[stage] - known[stage]
        share = f"{100 * equal / count:.2f} %"
        found.append(
            f"| {stage} | {count:,} | {equal:,} | {watched[stage]:,} | {known[stage]:,} | {wrong:,} | {share} |"
        )
    return found


def mixture_rows(stages: dict[str, mixtures.Found]) -> list[str]:
    """For operators and modules what FakeTensor says of our verdicts."""
    found = ["| | asked | FakeTensor agrees | torchgen's check decides | FakeTensor errs | wrong | no answer |"]
    found.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for stage, one in stages.items():
        asked, failed = sums(one.tally.tried)[stage], sums(one.tally.failed())[stage]
        by_table, known = one.by_table.total(), sums(listed(one.tally, known_limits.FAKE_TENSOR))[stage]
        agreed = asked - failed - by_table
        found.append(
            f"| {stage} | {asked:,} | {agreed:,} | {by_table:,} | {known:,} | {failed - known:,} | {one.silent:,} |"
        )
    return found


def document(tally: Tally, mixed: dict[str, mixtures.Found]) -> str:
    """The whole account."""
    limits = [f"- {m.name}, {m.stage}, {m.samples} samples: {m.why}." for m in known_limits.LIMITS]
    ways = [f"- {', '.join(w.names)} ({', '.join(w.stages)}): {w.why}." for w in known_limits.WATCHED]
    errs = [f"- {m.name}, {m.samples} of them: {m.why}." for m in known_limits.FAKE_TENSOR]
    joined = "\n".join
    return f"""# How much of PyTorch is the same on the virtual device

Written by `python -m tests.course_lib.virtual_cuda.databases.coverage --out FILE` with torch {torch.__version__}.

## Results

All float32 samples of PyTorch's own databases: {len(op_samples.operators())} operators and
{len(module_samples.modules())} modules, these in training and in evaluation. On the device, with the
CPU's random numbers, every result, gradient and buffer must be on the device and equal to the CPU's in
every bit, stride and dtype; and afterwards no memory may be in use.

{joined(rows(tally))}

**By another way.** While any dispatch mode is on, some composite functions of torch's C++ take another
way to the same result. These are equal bit for bit to the CPU under a mode that does nothing, and
nearly (1e-4) to the CPU without one:

{joined(ways)}

**Known limits:**

{joined(limits)}

## Mixtures

In the first {mixtures.SHAPES} samples of different shapes of each operator one tensor at a time is left
on the CPU; of each module, all that it is called with, and each alone. FakeTensor is asked what PyTorch
does then: refuse, or return on which device.

{joined(mixture_rows(mixed))}

Torchgen's check decides where FakeTensor lets a 0-dimensional tensor pass that generated code refuses.

**FakeTensor errs,** by the source of PyTorch:

{joined(errs)}"""


def main() -> None:
    """Count over everything, or over what is named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="write the account here as well")
    parser.add_argument("--failures", action="store_true", help="list what is not right, and why")
    parser.add_argument("names", nargs="*", help="operators and modules, all if none is named")
    options = parser.parse_args()
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    operators = [op for op in op_samples.operators() if not options.names or op.formatted_name in options.names]
    modules = [info for info in module_samples.modules() if not options.names or info.name in options.names]
    tally = cover(operators, op_samples.operator_cases, op_name)
    tally.add(cover(modules, module_samples.module_cases, module_name))
    mixed = {
        mixtures.MIXED: mixtures.cover_mixtures(mixtures.MIXED, operators, mixtures.mixtures_of_operator, op_name),
        mixtures.MIXED_MODULE: mixtures.cover_mixtures(
            mixtures.MIXED_MODULE, modules, mixtures.mixtures_of_module, module_name
        ),
    }
    if options.failures:
        for one in (tally, *(m.tally for m in mixed.values())):
            for (stage, name), count in one.failed().items():
                reasons = Counter(f.why for f in one.failures if (f.stage, f.name) == (stage, name))
                print(f"{stage:14} {name:40} {count:5} of {one.tried[stage, name]:5}  {reasons.most_common(2)}")
    text = document(tally, mixed)
    print(text)
    if options.out:
        options.out.write_text(text + "\n", encoding="utf-8")


def op_name(op: object) -> str:
    """As in the database: `linalg_norm`."""
    return op.formatted_name


def module_name(info: object) -> str:
    """As in the database: `nn.Linear`."""
    return info.name


if __name__ == "__main__":
    sys.exit(main())
