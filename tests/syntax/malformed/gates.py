"""What the version or the target of the file does not have."""

from syntax.snippets import Bad, kernel, module


def head(version: str, target: str) -> str:
    """The head of a file for another version and target."""
    return f".version {version}\n.target {target}\n.address_size 64\n"


GATES = (
    Bad("target newer than the version", module("", head("8.0", "«sm_100»")), "2:9"),
    Bad("target much newer than the version", module("", head("6.0", "«sm_90»")), "2:9"),
    Bad("type newer than the version", kernel(".reg «.b128» x;"), "8:10"),
    Bad(
        "directive newer than the version",
        module(".entry e() «.blocksareclusters» .reqntid 1 .reqnctapercluster 1 { ret; }"),
        "4:12",
    ),
    Bad(
        "directive newer than the target",
        module(".entry e() «.explicitcluster» { ret; }", head("8.0", "sm_80")),
        "4:12",
    ),
    Bad("directive that is gone", module(".entry e() «.maxnctapersm 2» { ret; }"), "4:12"),
    Bad(
        "instruction newer than the target",
        kernel("«redux.sync.add.s32» %r1, %r2, 0xFFFFFFFF;", head("8.0", "sm_75")),
        "8:5",
    ),
    Bad(
        "instruction newer than the version",
        kernel("«barrier.cluster.arrive»;", head("7.7", "sm_80")),
        "8:5",
    ),
    Bad(
        "instruction of sm_90a on sm_90",
        kernel("«setmaxnreg.inc.sync.aligned.u32» 240;"),
        "8:5",
    ),
    Bad(
        "modifier newer than the target",
        kernel("«fma.rn.relu.f16» %h1, %h2, %h3, %h1;", head("8.0", "sm_75")),
        "8:5",
    ),
    Bad(
        "instruction that is gone",
        kernel("«vote.ballot.b32» %r1, %p1;"),
        "8:5",
    ),
)
