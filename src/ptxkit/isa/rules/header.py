"""The head of a file: ``.version``, ``.target``, ``.address_size``."""

from __future__ import annotations

from ptxkit.isa.rules.context import Context
from ptxkit.isa.targets import TARGET_SINCE, VERSIONS, Target, Version
from ptxkit.syntax import AddressSize
from ptxkit.syntax import Target as TargetNode
from ptxkit.syntax import Version as VersionNode

_OPTIONS = frozenset("debug texmode_unified texmode_independent map_f64_to_f32".split())


def check_header(context: Context) -> None:
    """``.version`` comes first, ``.target`` next, each once and with a known value."""
    module = context.module
    children = module.children
    first = children[0] if children else None
    if not isinstance(first, VersionNode):
        place = first.span if first is not None else (0, 0)
        context.error(
            place, "missing-version", "the file does not begin with '.version'",
            "begin with '.version 9.0' and '.target sm_90'",
        )  # fmt: skip
    second = children[1] if len(children) > 1 else None
    if isinstance(first, VersionNode):
        _check_version(context, first)
        if not isinstance(second, TargetNode):
            context.error(
                second or first, "missing-target", "no '.target' follows '.version'",
                "write '.target sm_90' in the second line",
            )  # fmt: skip
    for position, child in enumerate(children):
        if isinstance(child, VersionNode) and position > 0:
            context.error(child, "duplicate", "'.version' stands at the very beginning only")
        elif isinstance(child, TargetNode):
            if position > 1:
                context.error(child, "duplicate", "'.target' stands right after '.version' only")
            _check_target(context, child)
        elif isinstance(child, AddressSize):
            if position > 2:
                context.error(child, "duplicate", "'.address_size' stands after '.target' only")
            if child.value not in (32, 64):
                context.error(child, "address-size", "the address size must be 32 or 64")


def _check_version(context: Context, node: VersionNode) -> None:
    if node.value in VERSIONS:
        return
    newest = VERSIONS[-1]
    written = node.value.partition(".")
    if written[0].isdigit() and written[2].isdigit():
        version = Version(int(written[0]), int(written[2]))
        if version > Version.parse(newest):
            context.warning(
                node, "unknown-version",
                f"PTX {node.value} is newer than {newest}, the newest this ptxkit knows",
                "what is new in it can't be checked",
            )  # fmt: skip
            return
    context.error(
        node, "unknown-version", f"there is no PTX version '{node.value}'",
        "versions are " + ", ".join(VERSIONS),
    )  # fmt: skip


def _check_target(context: Context, node: TargetNode) -> None:
    names = [value for value in node.values if value not in _OPTIONS]
    if not names:
        context.error(node, "unknown-target", "'.target' names no architecture", "write sm_90")
    newest = max(Target.parse(name).number for name in TARGET_SINCE)
    for name in names:
        known = name.replace("compute_", "sm_") in TARGET_SINCE
        digits = name.removeprefix("sm_").removeprefix("compute_").rstrip("af")
        if known:
            continue
        if name.startswith(("sm_", "compute_")) and digits.isdigit() and int(digits) > newest:
            context.warning(node, "unknown-target", f"'{name}' is newer than this ptxkit")
        else:
            context.error(
                node, "unknown-target", f"there is no target '{name}'",
                "targets are such as sm_75, sm_90, sm_90a, sm_100f, sm_120",
            )  # fmt: skip
