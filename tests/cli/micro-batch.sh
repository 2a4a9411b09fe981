#!/bin/bash
# A batch that goes through the encoder in parts gives the gradient of the whole batch,
# for any objective.
# Not for sanitizers: parts of a batch are in tests/train, the trainer in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

augmenter=$(cd "${0%/*}" && pwd)/augmenter.py
net=(--arch resnet8,norm=group,width=8 --head 16-8 --threads 1)

if ! has_python msgpack zmq; then
    skip 'micro-batches' 'no python3-zmq, python3-msgpack'
    done_testing
fi

batches=()
warm zmq msgpack random

# train DIR OPTIONS... : a trainer and its augmenter; returns the trainer's exit code
train() {
    local dir=$1 code=0
    shift
    "$python" "$augmenter" "ipc://$dir/batch" "${batches[@]}" >"$dir.augmenter" 2>&1 &
    "$BIN/foil-train" -r "$dir" "$@" 2>"$dir.err" || code=$?
    cat "$dir.err" >&2
    [[ $code -eq 0 ]] || kill $! 2>/dev/null
    wait $!
    return "$code"
}

# agree DIR DIR : the gradients of one step of sgd without momentum, from the
# checkpoints, differ by at most 1e-5 of the largest element
agree() {
    "$python" - "$@" <<'END'
import json, struct, sys

def gradient(folder):
    data = open(folder + "/latest/optim.safetensors", "rb").read()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    a, b = (start + header[name]["data_offsets"][i] for name, i in
            (("momentum.conv1.weight", 0), ("momentum.head.2.bias", 1)))
    return struct.unpack("<%df" % ((b - a) // 4), data[a:b])

whole, parts = map(gradient, sys.argv[1:])
off = max(abs(x - y) for x, y in zip(whole, parts))
print("off by %.1e of %.1e" % (off, max(map(abs, whole))))
sys.exit(len(whole) != len(parts) or not 0 < off < 1e-5 * max(map(abs, whole)))
END
}

# 16 views in a step, 5 at a time: 4 parts
plain=("${net[@]}" --optim ,momentum=0 --weight-decay 0 --steps 1)
mapfile -t objectives < <("$BIN/foil-train" --list objectives | jq -r '
    select(.negatives == null).name, select(.inside).name + " --policy in-batch"')
for objective in "${objectives[@]}"; do
    # shellcheck disable=SC2086
    set -- --objective $objective
    start_job "$2" train "$work/$2-4" "${plain[@]}" "$@" --micro-batch 5
    ok "$objective: a step with the whole batch" train "$work/$2-1" "${plain[@]}" "$@"
    ok "$objective: a step in parts" job_ok "$2"
    ok "$objective: both steps have the same gradient" agree "$work/$2-1" "$work/$2-4"
done

plain=(--arch table,hidden=5 --optim ,momentum=0 --steps 2 --threads 1)
ok 'a table trains with the whole batch' train "$work/table-1" "${plain[@]}"
ok 'a table trains in parts' train "$work/table-4" "${plain[@]}" --micro-batch 5
ok 'a table in parts has the same bits' cmp "$work/table-1/latest/optim.safetensors" \
    "$work/table-4/latest/optim.safetensors"

# peak DIR OPTIONS... : runs a trainer and prints its peak memory in MB
peak() {
    local dir=$1
    shift
    mkdir "$dir"
    "$python" "$augmenter" "ipc://$dir/batch" steps=1 epochs=1 images=96 size=96 \
        side=32 >"$dir.augmenter" 2>&1 &
    /usr/bin/python3 - "$BIN/foil-train" -r "$dir" "$@" <<'END'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
END
}

net=(--arch resnet8 --head 16-8 --threads 1 --steps 1 --window 1)
whole=$(peak "$work/whole" "${net[@]}" 2>/dev/null)
parts=$(peak "$work/parts" "${net[@]}" --micro-batch 12 2>/dev/null)
ok "a sixteenth of a batch takes less than half of the memory: $parts of $whole MB" \
    test "$((2 * parts))" -lt "$whole"

# first_of DIR TENSOR : prints the first number of a tensor of the model
first_of() {
    "$python" - "$@" <<'END'
import json, struct, sys
data = open(sys.argv[1] + "/latest/model.safetensors", "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
at = start + json.loads(data[8:start])[sys.argv[2]]["data_offsets"][0]
print("%.4f" % struct.unpack("<f", data[at:at + 4]))
END
}

# batch norm uses the statistics of each part and updates its averages once per part; the
# variance of black images is 0
net=(--arch resnet8,width=8 --head 16-8 --threads 1 --mean '0,0,0')
batches=(white=9:9)
ok 'a whole batch of black images' train "$work/x" "${net[@]}" --steps 1
ok 'batch norm has one update after a whole batch' \
    test "$(first_of "$work/x" bn1.running_var)" = 0.9000
ok 'a batch of black images in four parts' \
    train "$work/y" "${net[@]}" --steps 1 --micro-batch 4
ok 'batch norm has four updates after four parts' \
    test "$(first_of "$work/y" bn1.running_var)" = 0.6561
batches=()

net=(--arch resnet8,width=8 --head 16-8 --threads 1 --micro-batch 8)
ok 'a run with micro-batches and batch norm succeeds' train "$work/a" "${net[@]}"
ok 'a run with micro-batches stops after --steps' train "$work/b" "${net[@]}" --steps 3
ok 'a run with micro-batches resumes' train "$work/b" --resume
ok 'a resumed run with micro-batches has the same checkpoint' \
    diff -r "$work/a/latest/" "$work/b/latest/"
ok '--resume with another --micro-batch exits with 1' \
    refuses 1 '--micro-batch is 4, but 8' \
    "$BIN/foil-train" -r "$work/b" --resume --micro-batch 4

done_testing
