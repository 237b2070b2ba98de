"""PTX that ships inside public wheels, taken out of their shared objects by cuobjdump."""

from __future__ import annotations

import sys
import tempfile
import zipfile
from pathlib import Path

from corpus import oracle
from corpus.store import Entry, Store, fingerprint
from corpus.tools import Tool, find, run

WHEELS = ("torchaudio==2.11.0", "warp-lang==1.19.0", "cupy-cuda13x==14.2.0", "xgboost==3.2.0")


def build(store: Store) -> None:
    """Download the wheels, extract what is missing, ask ptxas about each."""
    cuobjdump, ptxas = find("cuobjdump"), find("ptxas")
    print(f"wheels: {len(WHEELS)} wheels with {cuobjdump}", flush=True)
    store.forget_failures("wheels")
    for requirement in WHEELS:
        wheel = download(requirement, store.root.parent / "wheels")
        if isinstance(wheel, str):
            store.fail(f"wheels/{requirement}", wheel)
            continue
        extract(store, cuobjdump, requirement, wheel)
        store.save()
    current = {e.path for e in store.of("wheels") if e.source in WHEELS}
    store.prune("wheels", current)
    oracle.check(store, "wheels", lambda entry: ptxas)


def download(requirement: str, folder: Path) -> Path | str:
    """The wheel's file, downloaded once; or pip's last words when it cannot be had."""
    folder.mkdir(parents=True, exist_ok=True)
    name, _, version = requirement.partition("==")
    pattern = f"{name.replace('-', '_')}-{version}-*.whl"
    present = sorted(folder.glob(pattern))
    if not present:
        pip = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
        result = run([*pip, requirement, "-d", str(folder)], timeout=1800)
        present = sorted(folder.glob(pattern))
        if not result.ok or not present:
            errors = [line for line in result.output.splitlines() if "ERROR" in line]
            return "; ".join(errors) or result.output[-300:] or "pip left no wheel"
    return present[0]


def extract(store: Store, cuobjdump: Tool, requirement: str, wheel: Path) -> None:
    """Put every PTX file of one wheel into the store, unless they are all there already.

    Bytes are kept as cuobjdump writes them, trailing NUL included where there is one.
    """
    recipe = fingerprint(wheel.read_bytes(), cuobjdump.version)
    mine = [e for e in store.of("wheels") if e.source == requirement]
    if mine and all(store.has(e.path, recipe) for e in mine):
        return
    name, _, version = requirement.partition("==")
    with tempfile.TemporaryDirectory() as scratch, zipfile.ZipFile(wheel) as archive:
        members = [m for m in archive.namelist() if m.endswith(".so") or ".so." in m]
        for count, member in enumerate(members):
            folder = Path(scratch, str(count))
            folder.mkdir()
            library = Path(archive.extract(member, scratch)).resolve()
            run([str(cuobjdump.path), "-xptx", "all", str(library)], cwd=folder)
            library.unlink()
            for ptx in sorted(folder.glob("*.ptx")):
                data = ptx.read_bytes()
                entry = Entry(
                    path=f"wheels/{name}/{ptx.name}",
                    origin="wheels",
                    source=requirement,
                    target=oracle.target_of(data),
                    options=f"from {member}",
                    tools={name: version, "cuobjdump": cuobjdump.version},
                    recipe=recipe,
                    sha256="",
                    size=0,
                )
                store.put(data, entry)
                ptx.unlink()
