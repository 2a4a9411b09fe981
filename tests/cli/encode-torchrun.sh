#!/usr/bin/env bash
# examples/torchrun.py: an encoder by torchrun on two nodes, both on this machine; then
# one of them is killed.
# Not for sanitizers: its stages are in encode.sh, the rest is Python.
# Mostly waits, 20 s
example=$(cd "${0%/*}/../../pipelines/examples" && pwd)/torchrun.py
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/encoders.sh
. "${0%/*}/../encoders.sh"
# PyTorch 1.13 on Python 3.11 fails with its defaults of the last two
export GLOO_SOCKET_IFNAME=lo PET_REDIRECTS=9:1 PET_TEE=9:1

# node N PORT : prints the command of node N
node() {
    echo "exec /usr/bin/python3 -m torch.distributed.run --nnodes 2 --node_rank $1" \
        "--master_addr 127.0.0.1 --master_port $2 '$example' 8"
}

# a port that neither the kernel nor another test uses
port=$((20000 + $$ % 5000 * 2))

# by_two RUN OPTION... : the trainer with node 0, and node 1 in the background ($other)
by_two() {
    port=$((port + 1))
    bash -c "$(node 1 "$port")" >"$1.other" 2>&1 &
    other=$!
    trained "$1" --encoder "FOIL_MEMORY=/proc/\$\$/fd/3 $(node 0 "$port")" "${@:2}" \
        2>"$1.err" || { cat "$1".{err,other}; return 1; }
}

# both_end RUN OPTION... : both nodes exit with 0
both_end() {
    by_two "$@" || return
    wait "$other" || { cat "$1.other"; return 1; }
}
ok 'two nodes train in micro-batches' both_end two --micro-batch 5
ok 'two nodes have the losses of one process' alike simclr two
alone=$(node 0 "$((port - 1))")
ok 'one node computes features' foil-embed -o one.npy \
    --encoder "FOIL_MEMORY=/proc/\$\$/fd/3 ${alone/--nnodes 2/--nnodes 1}" two "$data"
ok 'foil computes the features of the same weights' foil-embed -o ours.npy two "$data"
ok 'both are equal up to rounding' arrays ours.npy one.npy

select_with=(--batch 16 --epochs 100000) train_with[-1]=1000000 # steps
start_job lost by_two lost
ok 'two nodes train a step' becomes_true has_steps lost 1
for pid in $(pgrep -f "^[^ ]*python3 -u $example 8\$"); do
    ! grep -qxz RANK=1 "/proc/$pid/environ" ||
        [[ $(readlink "/proc/$pid/cwd") != "$work" ]] || kill -KILL "$pid"
done
ok 'a killed node ends the run with 1' exits 1 job_ok lost
ok 'foil-train reports the encoder after a node is killed' \
    grep -q 'foil-train: encoder: ' lost.err
done_testing
