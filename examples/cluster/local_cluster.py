#!/usr/bin/env python3
"""The same search on this machine and on a Dask cluster of two processes.

    local_cluster.py [FOLDER]         needs Dask: pip install 'dask[distributed]'

Any distributed.Client will do, such as one of a cluster that runs already:
Client("tcp://head:8786"). From the shell, `kmatch edit … --scheduler ADDRESS` does the same.
"""

import sys
from pathlib import Path

from distributed import Client, LocalCluster

import kmatch

HERE = Path(__file__).parents[1]
GENOME, PATTERNS = HERE / "data" / "lambda_phage.fa.gz", HERE / "lambda_patterns.txt"


def main():
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    kmatch.edit(GENOME, PATTERNS, k=4).to_tsv(folder / "here.tsv")
    processes = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with processes as cluster, Client(cluster) as client:
        hits = kmatch.edit(GENOME, PATTERNS, k=4, scheduler=client)
    hits.to_tsv(folder / "cluster.tsv")
    same = (folder / "here.tsv").read_bytes() == (folder / "cluster.tsv").read_bytes()
    print(f"{len(hits)} hits, {'the same' if same else 'OTHERS'} as on one machine")


if __name__ == "__main__":  # workers import this file
    main()
