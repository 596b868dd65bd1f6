#!/usr/bin/env bash
# Lend the machines of a lab to one run: a Dask scheduler here, a worker on each host, over SSH, with TLS.
#
#   docs/cluster/ssh.sh ada@lab-1 ada@lab-2 ...          stays in the foreground; Ctrl-C ends scheduler and workers
#
# The project lies at the same path on each host, set up from the same requirements.lock (`make demo` does that).
# SCHEDULER_HOST: the name or address by which the hosts reach this machine. PYTHON: another interpreter than .venv's.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
python=${PYTHON:-$project/.venv/bin/python}
address=tls://${SCHEDULER_HOST:-$(hostname -I | cut -d' ' -f1)}:8786
settings=$project/tls.env

# One certificate that all parts of the cluster share: who does not have its key can neither join nor ask.
if [ ! -e "$settings" ]; then
    (
        umask 077
        made=$(mktemp -d)
        openssl req -x509 -newkey rsa:2048 -nodes -days 365 -subj /CN=grading \
            -keyout "$made/key.pem" -out "$made/cert.pem" 2> "$made/said" || { cat "$made/said" >&2; exit 1; }
        {
            echo "export DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION=True"
            echo "export DASK_DISTRIBUTED__COMM__TLS__CA_FILE='$(cat "$made/cert.pem")'"
            for part in SCHEDULER WORKER CLIENT; do
                echo "export DASK_DISTRIBUTED__COMM__TLS__${part}__CERT='$(cat "$made/cert.pem")'"
                echo "export DASK_DISTRIBUTED__COMM__TLS__${part}__KEY='$(cat "$made/key.pem")'"
            done
        } > "$settings"
        rm -r "$made"
    )
fi

trap 'trap - EXIT; kill $(jobs -p) 2> /dev/null; wait' EXIT INT TERM
(. "$settings"; exec "$python" -m distributed.cli.dask_scheduler --protocol tls --port 8786) &
for host in "$@"; do
    # The settings travel on the standard input, so that no key stands in a list of processes or in a file there.
    # -tt would end the worker with the connection; instead the worker ends when the scheduler has been gone for a minute.
    {
        cat "$settings"
        echo "exec '$python' -m distributed.cli.dask_worker '$address' --name '$host' --nworkers 1 \
            --memory-limit 0 --local-directory /tmp --no-dashboard --death-timeout 60"
    } | ssh "$host" bash -s &
done
echo "In another terminal:  . $settings && .venv/bin/autograder grade ... --engine dask --scheduler $address"
wait
