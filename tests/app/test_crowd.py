"""Many at once: everybody gets an answer or the end of their time, and no worker is lost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.hostile import KERNEL
from ptxkit.app import jobs
from ptxkit.app.jobs import Pool, Stopped

ENDLESS = {
    "source": 'extern "C" __global__ void k(volatile int *x) { while (!x[0]) { } }',
    "kernel": "",
    "grid": "1",
    "block": "1",
    "arguments": "s32[1]=zeros",
}
PEOPLE = 8


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    """Two workers for everybody, so that all of them are held by who wants another."""
    monkeypatch.setattr(jobs, "_MOST", 2)
    made = Pool(spare=2)
    yield made
    made.close()


def explore(pool: Pool, owner: str, seconds: float) -> dict[str, object]:
    return dict(pool.stream(owner, [("explore", {"text": KERNEL})], seconds))


def test_those_who_hold_all_workers_do_not_wait_for_each_other(pool: Pool) -> None:
    with ThreadPoolExecutor(PEOPLE) as people:
        found = list(people.map(lambda n: explore(pool, f"person {n}", 120), range(PEOPLE)))
    for panes in found:
        # "sass" and "cuda" come from the tasks that the first one names.
        assert {"ptx", "summary", "sass", "resources", "cuda"} <= set(panes)
        assert "error" not in panes


def test_all_begun_in_turns_come_to_their_end(pool: Pool) -> None:
    """By one thread that looks at each in turn, as a server with few threads may."""
    task = ("explore", {"text": KERNEL})
    streams = [pool.stream(f"person {n}", [task], 120) for n in range(3)]
    finished = 0
    while streams:
        for stream in list(streams):
            found = next(stream, None)
            if found is None:
                streams.remove(stream)
                finished += 1
            else:
                assert found[0] != "error"
    assert finished == 3


def test_waiting_is_part_of_the_time_and_can_be_stopped(pool: Pool) -> None:
    holders = [pool.stream(f"holder {n}", [("run", ENDLESS)], 60) for n in range(2)]
    for holder in holders:
        next(holder)
    begun = time.monotonic()
    assert "explore waited longer than 1 seconds" in str(explore(pool, "late", 1)["error"])
    assert time.monotonic() - begun < 10
    waiting = pool.stream("waiting", [("explore", {"text": KERNEL})], 60)
    next(waiting)
    pool.stop("waiting")
    with pytest.raises(Stopped):
        list(waiting)
    for holder in holders:
        holder.close()
    # And all workers are there again.
    assert "cuda" in explore(pool, "later", 60)


def test_more_tasks_that_find_no_worker_end_with_the_time(pool: Pool) -> None:
    holder = pool.stream("holder", [("run", ENDLESS)], 60)
    next(holder)
    tasks = [("run", ENDLESS), ("run", ENDLESS)]
    panes = dict(pool.stream("two", tasks, 2))
    assert "run took longer than 2 seconds" in str(panes["error"])
    holder.close()
    assert "cuda" in explore(pool, "later", 60)
