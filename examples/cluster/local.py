#!/usr/bin/env python3
"""The same search on this machine and on a Dask cluster of two processes.

Any distributed.Client will do, such as one of a cluster that runs already: Client("tcp://head:8786").
From the shell, `kmatch edit … --scheduler ADDRESS` does the same.
"""

from pathlib import Path

from distributed import Client, LocalCluster

import kmatch

DATA = Path(__file__).parents[1] / "data"
SEARCH = (DATA / "lambda_phage.fa.gz", DATA / "lambda_patterns.txt", 4)


def main():
    processes = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with processes as cluster, Client(cluster) as client:
        hits = kmatch.edit(*SEARCH, scheduler=client)
    same = [*hits] == [*kmatch.edit(*SEARCH)]
    print(f"{len(hits)} hits, {'the same' if same else 'OTHERS'} as on one machine")


if __name__ == "__main__":  # workers import this file
    main()
