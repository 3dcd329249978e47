"""A fit on a Dask cluster as rows and workers grow, beside a peer; a reduction of many sums.

    python benchmarks/cluster.py [--only scaling peer reduction] [--most ROWS]

Every cell runs in a process of its own, which is the driver, and is kept in results/cluster.json
the moment it is done; a second call goes on where the first was.  Workers are processes with one
thread each.  Rows are made on the workers, 100,000 in a chunk, anew in every pass, and never come
to the driver.  Memory is the peak of a process.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

RESULT = Path(__file__).parent / "results" / "cluster.json"
FEATURES, CHUNK, LANDMARKS = 20, 100_000, 500
ROWS = (100_000, 1_000_000, 10_000_000)
WORKERS = (1, 2)
PEER_ROWS, TEST_ROWS = 300_000, 100_000
#: Of the peer, the stochastic gradient descent: the penalty, and passes over all rows.
ALPHAS, EPOCHS = (1e-4, 1e-6), (1, 3)
#: The sums of so many workers, with so many landmarks.
MANY_WORKERS, MANY_LANDMARKS = 100, 2000


def rows_of(number, count=CHUNK):
    """Return rows of three classes, told by products of features, with some noise."""
    rng = np.random.default_rng([7, number])
    X = rng.standard_normal((count, FEATURES))
    scores = np.stack([X[:, 3 * c] * X[:, 3 * c + 1] + X[:, 3 * c + 2] for c in range(3)], axis=1)
    return X, (scores + 0.3 * rng.standard_normal(scores.shape)).argmax(axis=1)


def collections(count):
    """Return rows and labels as Dask arrays that know how to make themselves."""
    import dask
    import dask.array as da

    made = [dask.delayed(rows_of, nout=2)(number) for number in range(count // CHUNK)]
    X = [da.from_delayed(rows, (CHUNK, FEATURES), float) for rows, _ in made]
    y = [da.from_delayed(labels, (CHUNK,), int) for _, labels in made]
    return da.concatenate(X), da.concatenate(y)


def cluster(n_workers):
    from distributed import LocalCluster

    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        dashboard_address=":0",
        memory_limit=0,
        silence_logs="ERROR",
    )


def told(dask_worker):
    """Return what a worker has taken: processor seconds, peak of memory, bytes sent to others."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": usage.ru_maxrss * 1024,
        "sent": dask_worker.transfer_outgoing_bytes_total,
    }


def ready(client):
    """Let every worker import what it needs, and learn a little."""
    from kerndict.dask import DaskKernelDictionaryClassifier

    X, y = collections(2 * CHUNK)
    DaskKernelDictionaryClassifier(n_landmarks=50, sigma=5.0).fit(X[::20], y[::20])
    return client.run(told)


def spent(before, after):
    return {
        "cpu": sum(after[name]["cpu"] - before[name]["cpu"] for name in after),
        "sent": sum(after[name]["sent"] - before[name]["sent"] for name in after),
        "peak": max(each["peak"] for each in after.values()),
    }


def watched(seconds):
    """Note how long the passes take, and what the driver takes of the processor."""
    import kerndict.dask.fitting as fitting

    plain = fitting.add_up

    def add_up(client, chunks, name, *arguments):
        begin = time.perf_counter()
        found = plain(client, chunks, name, *arguments)
        seconds[name] = time.perf_counter() - begin
        return found

    fitting.add_up = add_up


def scaling(count, n_workers):
    """Fit so many rows on so many workers."""
    from distributed import Client

    from kerndict.dask import DaskKernelDictionaryClassifier

    with cluster(n_workers) as machine, Client(machine) as client:
        before, seconds = ready(client), {}
        watched(seconds)
        driver = time.process_time()
        begin = time.perf_counter()
        X, y = collections(count)
        model = DaskKernelDictionaryClassifier(n_landmarks=LANDMARKS, random_state=0).fit(X, y)
        wall = time.perf_counter() - begin
        driver = time.process_time() - driver
        found = spent(before, client.run(told))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        Xt, yt = rows_of(10**6, TEST_ROWS)
        return {
            "rows": count,
            "workers": n_workers,
            "landmarks": model.n_landmarks_,
            "wall": wall,
            "passes": seconds,
            "worker_cpu": found["cpu"],
            "driver_cpu": driver,
            "worker_peak": found["peak"],
            "driver_peak": peak,
            "sent_between_workers": found["sent"],
            "accuracy": model.to_local().score(Xt, yt),
        }


def peer(count, n_workers):
    """Fit ours and stochastic gradient descent on Nystroem features to the same rows."""
    import dask
    from distributed import Client
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import SGDClassifier
    from sklearn.metrics import log_loss

    from kerndict.dask import DaskKernelDictionaryClassifier

    Xt, yt = rows_of(10**6, TEST_ROWS)
    cells = []

    def cell(method, begin, before, model):
        found = spent(before, client.run(told))
        probabilities = model.predict_proba(Xt)
        cells.append(
            {
                "method": method,
                "rows": count,
                "workers": n_workers,
                "wall": time.perf_counter() - begin,
                "worker_cpu": found["cpu"],
                "accuracy": float((probabilities.argmax(axis=1) == yt).mean()),
                "log_loss": float(log_loss(yt, probabilities)),
            }
        )

    with cluster(n_workers) as machine, Client(machine) as client:
        X, y = collections(count)
        before, begin = ready(client), time.perf_counter()
        ours = DaskKernelDictionaryClassifier(n_landmarks=LANDMARKS, random_state=0).fit(X, y)
        local = ours.to_local()
        cell("ours", begin, before, local)
        for alpha in ALPHAS:
            for epochs in EPOCHS:
                before, begin = client.run(told), time.perf_counter()
                drawn = rows_of(0, 20_000)[0]
                gamma = 0.5 / local.sigma_**2  # the width that ours has chosen
                features = Nystroem(gamma=gamma, n_components=LANDMARKS, random_state=0).fit(drawn)
                described = dask.delayed(features, traverse=False)
                learner = SGDClassifier(loss="log_loss", alpha=alpha, average=True, random_state=0)
                state = dask.delayed(learner, traverse=False)
                for _ in range(epochs):
                    for number in range(count // CHUNK):  # as dask-ml's Incremental does
                        rows = dask.delayed(features_of)(described, number)
                        state = dask.delayed(one_more)(state, rows)
                learned = client.compute(state).result()
                cell(f"sgd alpha={alpha:g} epochs={epochs}", begin, before, Both(features, learned))
    return cells


def features_of(described, number):
    X, y = rows_of(number)
    return described.transform(X), y


def one_more(learner, rows):
    from copy import deepcopy

    return deepcopy(learner).partial_fit(*rows, classes=[0, 1, 2])


class Both:
    """Features, and what learned from them."""

    def __init__(self, features, learner):
        self.features, self.learner = features, learner

    def predict_proba(self, X):
        return self.learner.predict_proba(self.features.transform(X))


def sums_of(before, n_landmarks, number, first, X, y):
    """Return sums like those of a worker at the end of its lane."""
    from kerndict.dask.passes import Learned
    from kerndict.landmarks import Sample, Sums

    rng = np.random.default_rng(number)
    products = rng.standard_normal(n_landmarks * (n_landmarks + 1) // 2)
    by_class = rng.standard_normal((3, n_landmarks))
    sums = Sums(products, by_class, np.ones(3), np.ones(3, np.int64))
    return Learned(sums, Sample.empty(1, FEATURES, np.dtype(float)))


def reduction():
    """Add up the sums of many workers; scheduler, workers and driver are processes of their own."""
    import dask.array as da
    from distributed import Client

    from kerndict.dask.chunks import aligned
    from kerndict.dask.lanes import add_up
    from kerndict.dask.passes import merge_learned

    address = "tcp://127.0.0.1:18786"
    command = [sys.executable, __file__, "--run"]
    scheduler = subprocess.Popen([*command, "scheduler", address])
    workers = subprocess.Popen([*command, "workers", address])
    try:
        with Client(address, timeout=60) as client:
            client.wait_for_workers(MANY_WORKERS, timeout=300)
            ones = da.zeros((MANY_WORKERS, FEATURES), chunks=(1, FEATURES))
            chunks = aligned(ones, ones[:, 0])
            places = list(range(MANY_WORKERS))
            add_up(client, chunks, "small", sums_of, merge_learned, 10, places)  # imports
            idle = {"scheduler": peak(scheduler.pid), "driver": peak("self")}
            begin = time.perf_counter()
            found = add_up(client, chunks, "sum", sums_of, merge_learned, MANY_LANDMARKS, places)
            seconds = time.perf_counter() - begin
            expected = sum_of_the_first_products()
            np.testing.assert_allclose(found.sums.products[:1000], expected, atol=1e-12)
            sent = sum(each["sent"] for each in client.run(told).values())
            return {
                "workers": MANY_WORKERS,
                "landmarks": MANY_LANDMARKS,
                "bytes_of_a_sum": found.sums.products.nbytes,
                "wall": seconds,
                "sent_between_workers": sent,
                "driver_more": peak("self") - idle["driver"],
                "scheduler_more": peak(scheduler.pid) - idle["scheduler"],
            }
    finally:
        for process in (workers, scheduler):
            process.terminate()
            process.wait()


def graph(n_chunks, n_threads):
    """Make the tasks of one pass over so many chunks, and do not run them."""
    import pickle

    from kerndict.dask import lanes
    from kerndict.dask.chunks import aligned
    from kerndict.dask.passes import merge_learned

    class Threads:
        def nthreads(self):
            return dict.fromkeys(map(str, range(n_threads)), 1)

    lanes._computed = lambda client, value, known_bytes: value
    before, given = peak("self"), collections(n_chunks * CHUNK)
    begin = time.process_time()
    chunks = aligned(*given)
    found = lanes.add_up(Threads(), chunks, "sum", sums_of, merge_learned, 10, chunks.first)
    seconds = time.process_time() - begin
    return {
        "chunks": n_chunks,
        "threads": n_threads,
        "seconds": seconds,
        "driver_more": peak("self") - before,
        "sent_to_scheduler": len(pickle.dumps(dict(found.dask))),
    }


def sum_of_the_first_products():
    parts = [np.random.default_rng(k).standard_normal(1000) for k in range(MANY_WORKERS)]
    return np.sum(parts, axis=0)


def peak(pid):
    """Return the peak of the memory of a process."""
    text = Path(f"/proc/{pid}/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) * 1024


async def serve(kind, address):
    """Be the scheduler, or all the workers."""
    from distributed import Scheduler, Worker

    host, port = address.removeprefix("tcp://").split(":")
    if kind == "scheduler":
        async with Scheduler(host=host, port=int(port), dashboard=False) as scheduler:
            await scheduler.finished()
    else:
        workers = [
            Worker(address, nthreads=1, memory_limit=0, dashboard=False, host=host, name=number)
            for number in range(MANY_WORKERS)
        ]
        await asyncio.gather(*workers)
        await asyncio.gather(*(worker.finished() for worker in workers))


def plan(only, most):
    """List the cells, the longest last."""
    for count in ROWS:
        if count == max(ROWS):
            yield from others(only)
        if "scaling" in only and count <= most:
            for n_workers in reversed(WORKERS):
                yield "scaling", str(count), str(n_workers)


def others(only):
    if "peer" in only:
        yield "peer", str(PEER_ROWS), "2"
    if "reduction" in only:
        yield ("reduction",)
        yield "graph", "2000", "800"


def run(kind, *numbers):
    if kind in ("scheduler", "workers"):
        asyncio.run(serve(kind, *numbers))
        return
    kinds = {"scaling": scaling, "peer": peer, "reduction": reduction, "graph": graph}
    print(json.dumps(kinds[kind](*map(int, numbers))))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=["scaling", "peer", "reduction"])
    parser.add_argument("--most", type=int, default=max(ROWS))
    parser.add_argument("--run", nargs="+")
    options = parser.parse_args()
    if options.run:
        run(*options.run)
        return
    from timing import environment

    kept = json.loads(RESULT.read_text()) if RESULT.exists() else {"cells": {}}
    for cell in plan(options.only, options.most):
        name = " ".join(cell)
        if name in kept["cells"]:
            continue
        print(name, flush=True)
        command = [sys.executable, __file__, "--run", *cell]
        done = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
        found = json.loads(done.stdout.splitlines()[-1])
        kept["environment"] = environment()
        kept["cells"][name] = {"load": round(os.getloadavg()[0], 1), "found": found}
        RESULT.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
