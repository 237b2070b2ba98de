"""The README of a dataset: what a reader and the Hugging Face hub want to know."""

from __future__ import annotations

from typing import Any

from ptxkit.synth.merge import REJECTED
from ptxkit.synth.plan import Plan
from ptxkit.synth.schema import SCHEMA_VERSION, SPLITS
from ptxkit.synth.source import Source

_SIZES = (("n<1K", 1_000), ("1K<n<10K", 10_000), ("10K<n<100K", 100_000), ("100K<n<1M", 10**6))


def card(plan: Plan, source: Source, manifest: dict[str, Any]) -> str:
    """The README with its YAML front matter."""
    counts, duplicates = manifest["counts"], manifest["duplicates"]
    rows = sum(counts[split] for split in SPLITS)
    suffix = "parquet" if plan.format == "parquet" else "jsonl"
    configs = ["- config_name: default", "  data_files:"]
    for split in SPLITS:
        if counts[split]:
            configs += [f"  - split: {split}", f"    path: data/{split}-*.{suffix}"]
    if counts[REJECTED]:
        path = f"{REJECTED}/{REJECTED}-*.{suffix}"
        configs += [
            f"- config_name: {REJECTED}", "  data_files:",
            f"  - split: {REJECTED}", f"    path: {path}",
        ]  # fmt: skip
    size = next((name for name, limit in _SIZES if rows < limit), "n>1M")
    executed = plan.settings.views == "all"
    took = (
        "made machine code of the PTX of every row"
        if plan.settings.assemble
        else "read and checked the PTX of every row, but made no machine code (`--no-assemble`)"
    )
    proof = (
        f"NVIDIA's assembler {took}; every row was executed, and compared with an independent "
        "oracle: the column `verification` says how."
        if executed
        else "The rows were made with `--views source`: they are not compiled and not executed."
    )
    tools = "\n".join(f"- {name} {version}" for name, version in sorted(plan.tools.items()))
    categories = ", ".join(source.chosen(plan.settings))
    table = "\n".join(f"| {name} | {counts[name]:,} |" for name in (*SPLITS, REJECTED))
    return f"""---
license: mit
pretty_name: ptxkit synth {plan.source}
task_categories:
- text-generation
tags:
- code
- cuda
- ptx
- synthetic
size_categories:
- {size}
configs:
{chr(10).join(configs)}
---

# Kernels by `ptxkit synth {plan.source}`

{proof}

| split | rows |
| --- | ---: |
{table}

A split follows from the hash of a kernel's shape, its source without names and constants: no
shape is in two splits ({duplicates["shapes_in_two_splits"]} are).

- distinct shapes: {duplicates["distinct_shapes"]:,} of {duplicates["rows"]:,} rows
- exact duplicates: {duplicates["exact_duplicates"]:,}
- near duplicates (MinHash, 8 bands of 8): {duplicates["near_duplicates"]:,}

## Provenance

- seed {plan.seed}, {plan.count:,} samples, categories: {categories}
- architectures: {", ".join(plan.settings.archs) if executed else "none"}
- schema version {SCHEMA_VERSION}
{tools}

The same arguments give the same bytes again: `ptxkit synth {plan.source} --seed {plan.seed}
--count {plan.count}`. `manifest.json` has the SHA-256 of every file, and
`ptxkit dataset validate` executes every row again.

The generated kernels are published under the MIT licence. {source.origin}
"""
