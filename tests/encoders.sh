# Sourced after tap.sh and runs.sh by tests of foil.encode().  Makes 64 images in
# $data and the run `simclr` with foil-train's own encoder; all encoders start from
# the same weights.
# shellcheck shell=bash disable=SC2154,SC2034 # some names are the caller's
export PATH=$BIN:$PATH PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
encoders=$(cd "${BASH_SOURCE[0]%/*}/cli" && pwd)/encoders.py
if ! has_python numpy torch; then
    skip 'encoders in PyTorch' 'no python3-torch'
    done_testing
fi
warm numpy torch
# a fork of the warm Python has no descriptor 3; its client (tests/forked.c) has it
program="FOIL_MEMORY=/proc/\$\$/fd/3 exec '$python' '$encoders'"

# torch RUN "KIND NAME=VALUE..." OPTION... : train with that encoder in PyTorch
torch() {
    trained "$1" --encoder "$program $2" "${@:3}" 2>"$1.err" ||
        { cat "$1.err"; return 1; }
}

# alike A B : both runs have eight steps with the same losses, and gradient norms
# within 1 % (rounding may flip one rectifier)
alike() {
    jq -ens --slurpfile a "$1/metrics.jsonl" --slurpfile b "$2/metrics.jsonl" '
        def off(name): $a[.][name] - $b[.][name] | fabs;
        ($a | length) == 8 and ($b | length) == 8 and all(range(8);
        off("loss") <= 1e-5 * ([1, ($a[.].loss | fabs)] | max) and
        off("grad_norm") <= 0.01 * $a[.].grad_norm)' ||
        { paste <(jq -c '[.loss, .grad_norm]' "$1/metrics.jsonl") \
            <(jq -c '[.loss, .grad_norm]' "$2/metrics.jsonl"); return 1; }
}

# arrays A B : both have the same shape, and are equal up to rounding
arrays() {
    /usr/bin/python3 -c 'import sys, numpy as np
a, b = map(np.load, sys.argv[1:])
assert a.shape == b.shape, (a.shape, b.shape)
assert abs(a - b).max() < 1e-5 * abs(a).max(), abs(a - b).max()' "$@"
}
# near A B : two files have the same tensors up to rounding
near() {
    /usr/bin/python3 - "$@" <<'END'
import json, struct, sys
import numpy as np
def tensors(path):
    with open(path, "rb") as f:
        about = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        blob = f.read()
    return {k: np.frombuffer(blob[slice(*a["data_offsets"])], 
                             {"F32": "f4", "F64": "f8"}[a["dtype"]])
            for k, a in about.items() if a.get("dtype") in ("F32", "F64")}
a, b = map(tensors, sys.argv[1:])
assert a and a.keys() == b.keys()
off = max(abs(a[k] - b[k]).max() for k in a)
print("off by", off)
assert off < 1e-5
END
}

cd "$work" || exit
data=$work/data.tar
foil-data generate --size 8 -o "$data" 64 2>/dev/null
foil-data index "$data" 2>/dev/null
augment_with=(--size 8)
select_with=(--batch 16 --epochs 3)
train_with=(--arch linear,hidden=16 --head none --warmup 0)
trained start --steps 1 2>/dev/null
train_with+=(--init start/latest/model.safetensors --optim adamw --lr 1e-4 --steps 8)
ok "foil-train trains its own encoder for eight steps" trained simclr
