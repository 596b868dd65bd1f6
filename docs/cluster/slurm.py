"""Grade on a Slurm cluster: ask for jobs, run the command against them, give them back.

    python -m pip install dask-jobqueue
    python docs/cluster/slurm.py --jobs 20 grade ASSIGNMENT SUBMISSIONS --out RUN

Run it on the login node, from an environment on the file system that all nodes share. The command may be stopped and
started again as on one machine. What your site wants to be told (account, partition, network interface) stands in
`SITE`, or in dask-jobqueue's own configuration file.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from dask_jobqueue import SLURMCluster
from distributed import Security

SITE: dict[str, Any] = {
    "cores": 16,  # of one job; as many submissions are graded at once
    "memory": "40GB",  # 2 GB for each, and what the warm processes hold
    "walltime": "02:00:00",
    # "queue": "short", "account": "course", "interface": "ib0",
}


def main() -> int:
    """Returns the command's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, required=True, help="how many nodes, or parts of nodes")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="as for autograder: grade ASSIGNMENT SUBMISSIONS ...")
    options = parser.parse_args()
    keys = Path.home() / ".cache" / "autograder-tls"
    keys.mkdir(mode=0o700, parents=True, exist_ok=True)
    security = Security.temporary()
    with SLURMCluster(
        processes=1,  # one warm pool for all cores of the job
        local_directory="/tmp",  # of the node, never shared
        worker_extra_args=["--memory-limit", "0", "--no-dashboard"],
        security=security,
        protocol="tls://",
        shared_temp_directory=str(keys),
        **SITE,
    ) as cluster:
        cluster.scale(jobs=options.jobs)
        client = security.get_tls_config_for_role("client")
        tls = {"CA_FILE": client["ca_file"], "CLIENT__CERT": client["cert"], "CLIENT__KEY": client["key"]}
        where = ["--engine", "dask", "--scheduler", cluster.scheduler_address]
        done = subprocess.run(
            [sys.executable, "-m", "autograder", *options.command, *where],
            env={**os.environ, **{f"DASK_DISTRIBUTED__COMM__TLS__{name}": text for name, text in tls.items()}},
        )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
