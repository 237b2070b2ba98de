"""Training: `ptxkit train`.

A run is a folder: the vocabulary, the last state (weights, optimiser, place in the data, random
numbers), the curve as CSV and PNG, and at the end the weights alone.
"""

from __future__ import annotations

import copy
import csv
import io
import json
import math
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ptxkit.decompiler.neural import batches
from ptxkit.decompiler.neural.model import Config, Model, avoid_plans
from ptxkit.decompiler.neural.tokens import Tokens, complete_parts
from ptxkit.decompiler.neural.weights import CONFIG, load_into, save_weights
from ptxkit.errors import MissingExtraError, UsageError

STATE = "state.pt"
CURVE = "curve.csv"
_STATE_PARTS = {"model", "optimizer", "place", "random", "settings"}


@dataclass(frozen=True, slots=True)
class Settings:
    """How to train."""

    steps: int = 0
    """How long: so many steps ..."""
    minutes: float = 0.0
    """... or so many minutes, whichever is given."""
    pause: float = 0.0
    """Minutes after which to stop for now, with the state on disk; 0: none."""
    budget: int = 65536
    """Words in a batch."""
    rate: float = 1.2e-3
    warm_up: float = 0.03
    """The part of the run in which the rate rises."""
    decay: float = 0.05
    clip: float = 1.0
    seed: int = 0
    width: int = 256
    heads: int = 8
    inner: int = 1024
    layers: int = 6
    dropout: float = 0.0
    save_every: float = 60.0
    """Seconds between states on disk."""
    save_steps: int = 0
    """Steps between states on disk; 0: only by time."""
    report_every: int = 50
    compile: bool = False
    curriculum: bool = True
    """Whether easy tiers come first."""
    half: bool = False
    """Compute in 16 bits on a CPU too, as on a GPU."""
    pairs: int = 0
    """Learn from the first so many pairs only; 0: from all."""
    threads: int = 0
    """Threads of a CPU; 0: as many as there are. A small model is slower with more than one, and
    many times slower where something else runs."""


PRESETS: dict[str, Settings] = {
    "full": Settings(minutes=6.0),
    "tiny": Settings(
        steps=60,
        budget=2048,
        width=64,
        heads=4,
        inner=128,
        layers=2,
        report_every=10,
        rate=3e-3,
        threads=1,
    ),
}


def progress_rate(settings: Settings, progress: float) -> float:
    """The learning rate at a point of the run: up in a line, down along a cosine.

    >>> s = Settings(rate=1.0, warm_up=0.1)
    >>> [round(progress_rate(s, p), 2) for p in (0.05, 0.1, 0.55, 1.0)]
    [0.5, 1.0, 0.5, 0.0]
    """
    if progress < settings.warm_up:
        return settings.rate * progress / settings.warm_up
    rest = (progress - settings.warm_up) / (1 - settings.warm_up)
    return settings.rate * 0.5 * (1 + math.cos(math.pi * min(rest, 1.0)))


@dataclass(slots=True)
class _Place:
    """Where a run stands."""

    step: int = 0
    round: int = 0
    inside: int = 0
    """Batches of this round that are done."""
    seconds: float = 0.0
    tiers: tuple[int, ...] = ()
    words: int = 0
    parts: int = 0
    """Parts of the data that this round is made of: more may have come since."""


class _World:
    """One process, or one of several that torchrun started."""

    def __init__(self) -> None:
        self.size = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))
        local = int(os.environ.get("LOCAL_RANK", "0"))
        cuda = torch.cuda.is_available()
        self.device = torch.device("cuda", local) if cuda else torch.device("cpu")
        if self.size > 1:
            torch.distributed.init_process_group("nccl" if cuda else "gloo")
        if cuda:
            torch.cuda.set_device(self.device)
            torch.backends.cuda.matmul.allow_tf32 = True
            avoid_plans()

    def agreed(self, number: int) -> int:
        """What the first process says, for all."""
        if self.size == 1:
            return number
        box = torch.tensor(number, device=self.device)
        torch.distributed.broadcast(box, 0)
        return int(box)

    def close(self) -> None:
        if self.size > 1:
            torch.distributed.destroy_process_group()


def refuse_nothing_to_resume(out: Path) -> None:
    """Raise where a folder has no run that could go on."""
    if not (out / STATE).exists():
        raise UsageError(f"there is no run to resume in '{out}': it has no {STATE}")


def refuse_to_overwrite(out: Path) -> None:
    """Raise where a new run would be mixed with what is in its folder already."""
    if out.exists() and not out.is_dir():
        raise UsageError(f"'{out}' is no folder, and a run needs one of its own: --out FOLDER")
    if (out / STATE).exists():
        raise UsageError(
            f"there is a run in '{out}': go on with it by --resume, or choose another folder"
        )
    for name in (CURVE, CONFIG):
        if (out / name).exists():
            raise UsageError(
                f"there is {name} of another run in '{out}', and no {STATE} to go on from: "
                "choose another folder"
            )


def _read_state(path: Path, device: torch.device) -> dict[str, Any]:
    """What `_Run.save` has written; an error that says so where it is something else."""
    data = io.BytesIO(path.read_bytes())  # what goes wrong from here on is the fault of the bytes
    try:
        state = torch.load(data, map_location=device, weights_only=True)
    except Exception as error:  # whatever the reader of pickles meets in other bytes
        raise _damaged(path) from error
    if not isinstance(state, dict) or not state.keys() >= _STATE_PARTS:
        raise _damaged(path)
    return state


def _damaged(path: Path) -> UsageError:
    return UsageError(
        f"'{path}' is damaged, or is no state of a run: it cannot be resumed; put a copy of the "
        "file there, or train again in another folder"
    )


def train(
    tokens: Tokens,
    out: Path,
    settings: Settings,
    *,
    resume: bool = False,
    start_from: Path | None = None,
    say: Callable[[str], None] = print,
) -> Path:
    """Train a model on prepared pairs; gives the folder with its weights.

    `start_from` is a folder of weights to begin with instead of random ones.
    """
    if not settings.steps and not settings.minutes:
        raise UsageError("say how long to train: --steps or --minutes")
    if resume:
        refuse_nothing_to_resume(out)
    else:
        refuse_to_overwrite(out)
    world = _World()
    threads = torch.get_num_threads()
    torch.set_num_threads(settings.threads or threads)
    try:
        return _Run(tokens, out, settings, world, say).go(resume, start_from)
    finally:
        torch.set_num_threads(threads)
        world.close()


class _Run:
    def __init__(
        self,
        tokens: Tokens,
        out: Path,
        settings: Settings,
        world: _World,
        say: Callable[[str], None],
    ) -> None:
        self.tokens, self.out, self.settings, self.world = tokens, out, settings, world
        self.say = say if world.rank == 0 else lambda text: None
        out.mkdir(parents=True, exist_ok=True)
        torch.manual_seed(settings.seed)
        vocabulary = tokens.vocabulary
        self.config = Config(
            len(vocabulary), vocabulary.answers, settings.width, settings.heads, settings.inner,
            settings.layers, settings.layers, settings.dropout,
        )  # fmt: skip
        self.model = Model(self.config).to(world.device)
        self.take(tokens)
        cuda = world.device.type == "cuda"
        plain = [p for p in self.model.parameters() if p.dim() < 2]
        wide = [p for p in self.model.parameters() if p.dim() >= 2]
        groups = [
            {"params": wide, "weight_decay": settings.decay},
            {"params": plain, "weight_decay": 0.0},
        ]
        self.optimizer = torch.optim.AdamW(groups, lr=0.0, betas=(0.9, 0.98), fused=cuda)
        self.place = _Place()
        # On a GPU a copy in 16 bits computes; what the optimiser adds up stays in 32.
        self.fast = copy.deepcopy(self.model).bfloat16() if cuda or settings.half else self.model
        self.step_model: Any = self.fast
        if settings.compile:
            self.step_model = torch.compile(self.fast, dynamic=True)
        if world.size > 1:
            self.step_model = torch.nn.parallel.DistributedDataParallel(self.step_model)

    def take(self, tokens: Tokens) -> None:
        """Learn from these pairs from now on."""
        self.tokens = tokens
        self.store = batches.Store(tokens, self.world.device)
        self.rows = tokens.where("train")
        if self.settings.pairs:
            self.rows = self.rows[: self.settings.pairs]
        self.checks = tokens.where("validation")[:2048]

    def take_more(self) -> None:
        """At the start of a round: parts of the data that have been made meanwhile."""
        if self.place.inside == 0:
            self.place.parts = self.world.agreed(len(complete_parts(self.tokens.folder)))
        if self.place.parts != len(self.tokens.parts):
            self.take(Tokens(self.tokens.folder, self.place.parts))
            self.say(f"{len(self.rows):,} pairs in {self.place.parts} parts")

    # ---- state ---------------------------------------------------------------------------

    def save(self) -> None:
        """Write the state so that a kill at any moment leaves the old or the new one."""
        if self.world.rank:
            return
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "place": asdict(self.place),
            "random": torch.get_rng_state(),
            "settings": asdict(self.settings),
        }
        part = self.out / (STATE + ".part")
        try:
            torch.save(state, part)
        except (OSError, RuntimeError) as error:  # a full disk is either of them
            part.unlink(missing_ok=True)
            why = str(error).partition("\n")[0]
            raise UsageError(
                f"the state of the run cannot be written to '{part}' (full disk?): {why}"
            ) from error
        part.replace(self.out / STATE)

    def restore(self) -> None:
        """Go on where a run stood."""
        state = _read_state(self.out / STATE, self.world.device)
        free = {"steps": 0, "minutes": 0, "pause": 0, "compile": False}
        known = {**state["settings"], **free}
        mine = {**asdict(self.settings), **free}
        different = [
            k for k in known if known[k] != mine.get(k) and "every" not in k and k != "save_steps"
        ]
        if different:
            raise UsageError(f"the run in '{self.out}' has another {', '.join(different)}")
        try:
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
        except (RuntimeError, ValueError) as error:
            raise UsageError(
                f"the run in '{self.out}' has weights of another shape than these data need: "
                "resume it with its own --data"
            ) from error
        self.place = _Place(**{**state["place"], "tiers": tuple(state["place"]["tiers"])})
        torch.set_rng_state(state["random"].cpu())
        _cut_curve(self.out / CURVE, self.place.step)

    def progress(self) -> float:
        """Which part of the run is done."""
        if self.settings.steps:
            return self.place.step / self.settings.steps
        return min(1.0, self.place.seconds / (60 * self.settings.minutes))

    # ---- the loop ------------------------------------------------------------------------

    def go(self, resume: bool, start_from: Path | None) -> Path:
        if resume:
            self.restore()
        elif start_from is not None:
            load_into(self.model, start_from)
        self._refresh()
        if not len(self.rows):
            raise UsageError(f"'{self.tokens.folder}' has no pairs to train on")
        self.say(f"{self.model.size:,} parameters, {len(self.rows):,} pairs, {self.world.device}")
        report = _Report(self)
        saved = begun = time.monotonic()
        before = self.place.seconds
        paused = False
        while self.progress() < 1.0 and not paused:
            self.take_more()
            self.place.tiers = self.place.tiers or self.known_tiers()
            plan = batches.plan_round(
                self.tokens, self.rows, seed=self.settings.seed, number=self.place.round,
                tiers=list(self.place.tiers), budget=self.settings.budget,
            )  # fmt: skip
            # Each process takes its share; what does not divide evenly is left out.
            mine = plan[self.world.rank :: self.world.size][: max(1, len(plan) // self.world.size)]
            for chosen, longest in mine[self.place.inside :]:
                self.step(chosen, longest, report)
                self.place.seconds = before + time.monotonic() - begun
                steps = self.settings.save_steps
                late = time.monotonic() - saved > self.settings.save_every
                if late or (steps and self.place.step % steps == 0):
                    self.save()
                    saved = time.monotonic()
                paused = self._pauses(begun)
                if self.progress() >= 1.0 or self._more_tiers() or paused:
                    break
            else:
                self.place.round += 1
                self.place.inside = 0
                self.place.tiers = ()
                continue
            if self._more_tiers():
                self.place.round += 1
                self.place.inside = 0
                self.place.tiers = ()
        report.close()
        self.save()
        return self.finish()

    def _pauses(self, begun: float) -> bool:
        """Whether to stop here, to be resumed later."""
        pause = 60 * self.settings.pause
        late = bool(pause) and time.monotonic() - begun > pause
        return bool(self.world.agreed(int(late))) if pause else False

    def _more_tiers(self) -> bool:
        return self.known_tiers() != self.place.tiers

    def known_tiers(self) -> tuple[int, ...]:
        """The tiers to learn from now."""
        return tuple(batches.known_tiers(self.progress() if self.settings.curriculum else 1.0))

    def step(self, chosen: Any, longest: tuple[int, int], report: _Report) -> None:
        """One step of the optimiser."""
        batch = self.store.batch(chosen, longest)
        rate = progress_rate(self.settings, self.progress())
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.fast.zero_grad(set_to_none=True)
        loss, copied = self.step_model(
            batch.source, batch.made_at, batch.lengths, batch.said, batch.target
        )
        mean = (loss * batch.mask).sum() / batch.mask.sum()
        mean.backward()
        if self.fast is not self.model:
            for parameter in self.model.parameters():
                if parameter.grad is None:
                    parameter.grad = torch.empty_like(parameter)
            torch._foreach_copy_(_gradients(self.model), _gradients(self.fast))
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip)
        self.optimizer.step()
        self._refresh()
        self.place.step += 1
        self.place.inside += 1
        self.place.words += len(chosen) * (longest[0] + longest[1])
        report.add(batch, loss.detach(), copied, rate)

    @torch.no_grad()
    def _refresh(self) -> None:
        """Give the copy that computes what the optimiser has made."""
        if self.fast is not self.model:
            torch._foreach_copy_(list(self.fast.parameters()), list(self.model.parameters()))

    @torch.no_grad()
    def check(self) -> dict[str, float]:
        """Loss and share of wholly right answers (given the words before) on unseen shapes."""
        if not len(self.checks):
            return {}
        self.fast.eval()
        wrong, total, right = 0.0, 0, 0
        plan = batches.plan_round(
            self.tokens, self.checks, seed=0, number=0, tiers=list(range(11)),
            budget=self.settings.budget,
        )  # fmt: skip
        for chosen, longest in plan:
            batch = self.store.batch(chosen, longest)
            loss, _ = self.fast(
                batch.source, batch.made_at, batch.lengths, batch.said, batch.target
            )
            wrong += float((loss * batch.mask).sum())
            total += int(batch.mask.sum())
            # A word with more than half of the probability is the one that would be said.
            sure = ((loss < math.log(2)) | ~batch.mask).all(dim=1)
            right += int(sure.sum())
        self.fast.train()
        return {"validation_loss": wrong / total, "validation_exact": right / len(self.checks)}

    def finish(self) -> Path:
        """Write the weights and the curve's picture."""
        if self.world.rank == 0:
            about = {
                "steps": self.place.step,
                "seconds": round(self.place.seconds, 1),
                "words": self.place.words,
                "settings": asdict(self.settings),
                "data": self.tokens.about(),
                "device": _device_name(self.world.device),
                **self.check(),
            }
            save_weights(self.out, self.model, self.tokens.vocabulary, about)
            try:
                draw_curve(self.out)
            except MissingExtraError as error:
                # The curve is there as CSV; a picture of it can be made at any time.
                self.say(f"no picture of the curve: {error}")
        return self.out


def _gradients(model: Model) -> list[torch.Tensor]:
    return [p.grad for p in model.parameters() if p.grad is not None]


class _Report:
    """Sums over some steps, then one line of the curve."""

    def __init__(self, run: _Run) -> None:
        self.run = run
        self.sums = torch.zeros(11, 2, dtype=torch.float64, device=run.world.device)
        self.copies = torch.zeros((), dtype=torch.float64, device=run.world.device)
        self.begun = time.monotonic()
        self.words = run.place.words
        self.count = 0

    def add(self, batch: batches.Batch, loss: Any, copied: Any, rate: float) -> None:
        """One step."""
        each = torch.stack(((loss * batch.mask).sum(1), batch.mask.sum(1).to(loss.dtype)), 1)
        self.sums.index_add_(0, batch.tiers, each.double())
        self.copies += (copied & batch.mask).sum()
        self.count += 1
        if self.run.place.step % self.run.settings.report_every == 0:
            self.write(rate)

    def write(self, rate: float) -> None:
        """A line for the steps since the last one."""
        run = self.run
        sums = self.sums.cpu()
        loss = float(sums[:, 0].sum() / sums[:, 1].sum())
        elapsed = max(time.monotonic() - self.begun, 1e-9)
        speed = (run.place.words - self.words) / elapsed
        line: dict[str, Any] = {
            "step": run.place.step, "loss": loss, "rate": rate,
            "copied": float(self.copies) / float(sums[:, 1].sum()),
        }  # fmt: skip
        for tier in range(1, 11):
            line[f"tier_{tier}"] = float(sums[tier, 0] / sums[tier, 1]) if sums[tier, 1] else ""
        if run.place.step % (run.settings.report_every * 10) == 0:
            line.update(run.check())
        if run.world.rank == 0:
            _append(run.out / CURVE, line)
        run.say(
            f"step {run.place.step}  loss {loss:.4f}  copied {line['copied']:.3f}  "
            f"rate {rate:.2e}  {speed:,.0f} words/s  {run.place.seconds:.0f} s"
            + (f"  exact {line['validation_exact']:.3f}" if "validation_exact" in line else "")
        )
        self.sums.zero_()
        self.copies.zero_()
        self.begun, self.words, self.count = time.monotonic(), run.place.words, 0

    def close(self) -> None:
        """The steps that are left."""
        if self.count:
            self.write(0.0)


_FIELDS = ("step", "loss", "rate", "copied", *(f"tier_{t}" for t in range(1, 11)),
           "validation_loss", "validation_exact")  # fmt: skip


def _append(path: Path, line: dict[str, Any]) -> None:
    new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, _FIELDS, restval="")
        if new:
            writer.writeheader()
        writer.writerow(line)


def _cut_curve(path: Path, step: int) -> None:
    """Drop lines after the state that a run goes on from."""
    if not path.exists():
        return
    with path.open(newline="") as file:
        # A run that was killed may have left half a line.
        whole = [line for line in csv.DictReader(file) if None not in line.values()]
        lines = [line for line in whole if int(line["step"]) <= step]
    path.unlink()
    for line in lines:
        _append(path, line)


def _device_name(device: Any) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"


def draw_curve(folder: Path) -> None:
    """The curve of a run as a picture."""
    from ptxkit.errors import import_extra

    matplotlib = import_extra("matplotlib", extra="neural")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    with (folder / CURVE).open(newline="") as file:
        lines = list(csv.DictReader(file))
    figure, axes = pyplot.subplots(figsize=(8, 5))
    # A line each that none of the others looks like: there are ten colours for the ten tiers.
    looks: dict[str, dict[str, Any]] = {
        "loss": {"color": "black", "linewidth": 2.0},
        **{f"tier_{t}": {"color": f"C{t - 1}", "linewidth": 0.8} for t in range(1, 11)},
        "validation_loss": {"color": "black", "linewidth": 2.0, "linestyle": "--", "marker": "o"},
    }
    for name, look in looks.items():
        points = [(int(x["step"]), float(x[name])) for x in lines if x[name]]
        if points:
            axes.plot(*zip(*points, strict=True), label=name.replace("_", " "), **look)
    axes.set(xlabel="step", ylabel="loss per word", yscale="log")
    axes.legend(fontsize="small", ncols=2)
    figure.tight_layout()
    figure.savefig(folder / "curve.png", dpi=110)
    pyplot.close(figure)


def preset(name: str, **changes: Any) -> Settings:
    """A preset with changes; None leaves a value as it is."""
    if name not in PRESETS:
        raise UsageError(f"no preset is called '{name}'; there are: {', '.join(PRESETS)}")
    chosen = PRESETS[name]
    changes = {k: v for k, v in changes.items() if v is not None}
    if "steps" in changes and "minutes" not in changes:
        changes["minutes"] = 0.0
    if "minutes" in changes and "steps" not in changes:
        changes["steps"] = 0
    return replace(chosen, **changes)


def describe(settings: Settings) -> str:
    """The settings on one line, for logs."""
    return json.dumps(asdict(settings))
