#!/usr/bin/env python3
"""A search on workers that SLURM starts.

    slurm.py GENOME PATTERNS OUTPUT [--jobs N] [--gpus] [--print] …     needs dask-jobqueue

Run it on a machine from which jobs are submitted; all machines see the same files and the same
Python environment. GENOME may be @LIST. --print shows the job that would be submitted, and submits
none.
"""

import argparse
import subprocess
import sys

from dask_jobqueue import SLURMCluster


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("genome")
    parser.add_argument("patterns")
    parser.add_argument("output")
    parser.add_argument("-k", default="3")
    parser.add_argument("--jobs", type=int, default=4)
    parser.add_argument("--cores", type=int, default=16, help="of a job")
    parser.add_argument("--memory", default="32GB", help="of a job")
    parser.add_argument("--queue", help="a partition of SLURM")
    parser.add_argument("--time", default="02:00:00", help="of a job, at the most")
    parser.add_argument("--gpus", action="store_true", help="one a job, in place of its cores")
    parser.add_argument("--print", action="store_true")
    options = parser.parse_args()
    # A worker on a CPU searches a task on each of its threads; one with a GPU needs one thread.
    cluster = SLURMCluster(
        queue=options.queue,
        cores=1 if options.gpus else options.cores,
        processes=1,
        job_cpu=options.cores,
        memory=options.memory,
        walltime=options.time,
        job_extra_directives=["--gres=gpu:1"] if options.gpus else [],
        scheduler_options={"dashboard": False},
    )
    with cluster:
        if options.print:
            print(cluster.job_script())
            return
        cluster.scale(jobs=options.jobs)
        command = [sys.executable, "-m", "kmatch", "edit", options.genome, options.patterns]
        command += ["-k", options.k, "-o", options.output, "--scheduler", cluster.scheduler_address]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    main()
