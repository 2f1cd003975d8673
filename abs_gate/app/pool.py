"""Runs jobs on worker threads: pulled one by one just before they start, handed back as they finish."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

WAKE_S = 0.25
JobT = TypeVar("JobT")
ResultT = TypeVar("ResultT")


class Pool(Generic[JobT, ResultT]):
    """A bounded pool of daemon threads.

    The threads are daemons on purpose: a cancelled run must be able to end while an agent hangs. At most
    `concurrency` jobs are under way, so pulling the next job lazily lets the caller stop early, and memory
    stays flat however many jobs there are.
    """

    def __init__(self, work: Callable[[JobT], ResultT], *, concurrency: int) -> None:
        self._work = work
        self._concurrency = concurrency
        self._todo: queue.SimpleQueue[JobT | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[JobT, ResultT | None, BaseException | None]] = queue.SimpleQueue()
        self._threads: list[threading.Thread] = []

    def run(self, jobs: Iterator[JobT]) -> Iterator[tuple[JobT, ResultT]]:
        """Yield each job with its result, in the order they finish.

        Raises:
            Exception: whatever a job raised; jobs report expected trouble in their result.
        """
        running = 0
        exhausted = False
        try:
            while True:
                while not exhausted and running < self._concurrency:
                    try:
                        job = next(jobs)
                    except StopIteration:
                        exhausted = True
                        break
                    if running >= len(self._threads):
                        self._start_thread()
                    self._todo.put(job)
                    running += 1
                if not running:
                    return
                job, result, fault = self._next_done()
                running -= 1
                if fault is not None:
                    raise fault
                yield job, result  # type: ignore[misc]  # no fault means there is a result
        finally:
            for _ in self._threads:
                self._todo.put(None)

    def _next_done(self) -> tuple[JobT, ResultT | None, BaseException | None]:
        """The next job that ends. Wakes now and then: a signal that comes just before a wait does not end it."""
        while True:
            try:
                return self._done.get(timeout=WAKE_S)
            except queue.Empty:
                continue

    def _start_thread(self) -> None:
        thread = threading.Thread(target=self._serve, name=f"trial-{len(self._threads) + 1}", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _serve(self) -> None:
        while (job := self._todo.get()) is not None:
            try:
                self._done.put((job, self._work(job), None))
            except BaseException as fault:
                self._done.put((job, None, fault))
