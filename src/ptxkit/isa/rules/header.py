"""The head of a file: ``.version``, ``.target``, ``.address_size``."""

from __future__ import annotations

from itertools import pairwise

from ptxkit._native import Node
from ptxkit.errors import UsageError
from ptxkit.isa.rules.context import Context
from ptxkit.isa.targets import TARGET_SINCE, VERSIONS, Target, Version
from ptxkit.syntax import AddressSize
from ptxkit.syntax import Target as TargetNode
from ptxkit.syntax import Version as VersionNode

_OPTIONS = frozenset("debug texmode_unified texmode_independent map_f64_to_f32".split())
_HEADS = (VersionNode, TargetNode, AddressSize)
_NEWEST = max(Target.parse(known).number for known in TARGET_SINCE)


def check_header(context: Context) -> None:
    """``.version`` comes first, ``.target`` next, each with a known value."""
    children = context.module.children
    # What could not be read is reported already, and may have been what seems to be missing.
    unread = next((child for child in children if not isinstance(child, _HEADS)), None)
    if unread is None or unread.kind != "Error":
        _check_presence(context, children)
    previous: Node | None = None
    for position, child in enumerate(children):
        unknown = previous is not None and previous.kind == "Error"
        if isinstance(child, VersionNode):
            if position > 0 and not unknown:
                context.error(
                    child, "misplaced", "'.version' stands at the very beginning of a file only"
                )
            _check_version(context, child)
        elif isinstance(child, TargetNode):
            known = previous is None or isinstance(previous, (VersionNode, TargetNode))
            if not known and not unknown:
                context.error(child, "misplaced", "'.target' stands right after '.version' only")
            _check_target(context, child)
        elif isinstance(child, AddressSize):
            if not isinstance(previous, TargetNode) and not unknown:
                context.error(
                    child, "misplaced", "'.address_size' stands once, right after '.target'"
                )
            if child.value not in (32, 64):
                context.error(
                    child, "address-size", f"the address size must be 32 or 64, not {child.value}"
                )
        previous = child


def _check_presence(context: Context, children: tuple[Node, ...]) -> None:
    first = children[0] if children else None
    if not isinstance(first, VersionNode):
        # At the first line that says something, or where it could stand.
        place = (first.span[0], first.span[0]) if first is not None else (0, 0)
        context.error(
            place, "missing-version", "the file does not begin with '.version'",
            "begin with '.version 9.0' and '.target sm_90'",
        )  # fmt: skip
        return
    second = children[1] if len(children) > 1 else None
    if not isinstance(second, TargetNode):
        end = first.span[1]
        context.error(
            (end, end), "missing-target", "no '.target' follows '.version'",
            "write '.target sm_90' in the next line",
        )  # fmt: skip


def _check_version(context: Context, node: VersionNode) -> None:
    if node.value in VERSIONS:
        return
    newest = VERSIONS[-1]
    major = int(newest.split(".")[0])
    try:
        version = Version.parse(node.value)
        # A file of the next years is checked as well as can be; one of 99.0 is a slip.
        if version > Version.parse(newest) and version < Version(major + 3, 0):
            context.warning(
                node, "unknown-version",
                f"PTX {node.value} is newer than {newest}, the newest this ptxkit knows",
                "what is new in it can't be checked",
            )  # fmt: skip
            return
        near = [version for version in VERSIONS if version.startswith(node.value.split(".")[0])]
        hint = f"PTX {near[0]} to {near[-1]} exist" if near else f"the newest is {newest}"
    except UsageError:
        hint = "write a version such as 8.0"
    context.error(
        node, "unknown-version", f"there is no PTX version '{node.value}'", hint
    )  # fmt: skip


def _check_target(context: Context, node: TargetNode) -> None:
    words = [token for token in node.tokens() if token[0] == "identifier"]
    architectures = [word for word in words if word[1] not in _OPTIONS]
    if words and words[0] not in architectures:
        context.error(
            words[0][2:], "unknown-target",
            f"'.target' begins with the option '{words[0][1]}'",
            f"name the architecture first: '.target sm_90, {words[0][1]}'",
        )  # fmt: skip
    for _, name, start, end in architectures:
        _check_architecture(context, name, (start, end))
    modes = [word for word in words if word[1].startswith("texmode_")]
    for first, second in pairwise(modes):
        if first[1] != second[1]:
            context.error(
                second[2:], "target-option", f"'{second[1]}' contradicts '{first[1]}'", "keep one"
            )
    old = [word for word in words if word[1] == "map_f64_to_f32"]
    if old and context.target is not None and context.target.number >= 13:
        context.error(
            old[0][2:], "target-option", "'map_f64_to_f32' is for targets below sm_13 only",
            "remove it",
        )  # fmt: skip


def _check_architecture(context: Context, name: str, place: tuple[int, int]) -> None:
    since = TARGET_SINCE.get(name.replace("compute_", "sm_"))
    digits = name.removeprefix("sm_").removeprefix("compute_").rstrip("af")
    if since is not None:
        if context.version is not None and context.version < Version.parse(since):
            context.error(
                place, "target",
                f"'{name}' needs PTX {since}; the file says {context.version}",
                f"write '.version {since}' or newer, or an older target",
            )  # fmt: skip
    elif (
        name.startswith(("sm_", "compute_"))
        and digits.isdecimal()
        and len(digits) < 6
        and int(digits) > _NEWEST
    ):
        context.warning(place, "unknown-target", f"'{name}' is newer than this ptxkit")
    else:
        context.error(
            place, "unknown-target", f"there is no target '{name}'",
            "targets are such as sm_75, sm_90, sm_90a, sm_100f, sm_120",
        )  # fmt: skip


def check_address_size(context: Context) -> None:
    """32-bit addresses, warned of where they stand, make the whole file fail."""
    if not context.short_addresses:
        return
    node = next(one for one in context.module.children if isinstance(one, AddressSize))
    count = context.short_addresses
    have = "1 address has" if count == 1 else f"{count} addresses have"
    context.error(
        node,
        "address-size",
        f"{have} 32 bits in a module with .address_size 64",
        "use 64-bit registers for addresses; the warnings say where",
    )
