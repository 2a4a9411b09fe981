#!/bin/bash
# A batch that goes through the encoder in parts gives the gradient of the
# whole one, with any objective.
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

brings=()
warm zmq msgpack random

# with DIR OPTIONS... : a trainer and its augmenter; its exit code
with() {
    local dir=$1 code=0
    shift
    "$python" "$augmenter" "ipc://$dir/batch" "${brings[@]}" >"$dir.augmenter" 2>&1 &
    "$BIN/foil-train" -r "$dir" "$@" 2>"$dir.err" || code=$?
    cat "$dir.err" >&2
    [[ $code -eq 0 ]] || kill $! 2>/dev/null
    wait $!
    return "$code"
}

# agree DIR DIR : the gradients of a step of sgd without momentum, which are in
# its checkpoint, are equal within 1e-5 of the largest element
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

# steps by 16 views; 5 of them at a time: 4 parts
plain=("${net[@]}" --optim ,momentum=0 --weight-decay 0 --steps 1)
mapfile -t objectives < <("$BIN/foil-train" --list objectives | jq -r '
    select(.negatives == null).name, select(.inside).name + " --policy in-batch"')
for objective in "${objectives[@]}"; do
    # shellcheck disable=SC2086
    set -- --objective $objective
    begun "$2" with "$work/$2-4" "${plain[@]}" "$@" --micro-batch 5
    ok "$objective: at once" with "$work/$2-1" "${plain[@]}" "$@"
    ok "$objective: in parts" ended "$2"
    ok "$objective: the same gradient" agree "$work/$2-1" "$work/$2-4"
done

plain=(--arch table,hidden=5 --optim ,momentum=0 --steps 2 --threads 1)
ok 'a table: at once' with "$work/table-1" "${plain[@]}"
ok 'a table: in parts' with "$work/table-4" "${plain[@]}" --micro-batch 5
ok 'a table: the same bits' cmp "$work/table-1/latest/optim.safetensors" \
    "$work/table-4/latest/optim.safetensors"

# peak DIR OPTIONS... : runs a trainer, prints the MB it had at most
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
ok "a sixteenth at a time: $parts MB, at once $whole" \
    test "$((2 * parts))" -lt "$whole"

# first_of DIR TENSOR : the first number of a tensor of the model
first_of() {
    "$python" - "$@" <<'END'
import json, struct, sys
data = open(sys.argv[1] + "/latest/model.safetensors", "rb").read()
start = 8 + struct.unpack("<Q", data[:8])[0]
at = start + json.loads(data[8:start])[sys.argv[2]]["data_offsets"][0]
print("%.4f" % struct.unpack("<f", data[at:at + 4]))
END
}

# batch norm has the statistics of a part, and moves by each once: the variance
# of black images is 0
net=(--arch resnet8,width=8 --head 16-8 --threads 1 --mean '0,0,0')
brings=(white=9:9)
ok 'black images at once' with "$work/x" "${net[@]}" --steps 1
ok 'one move' test "$(first_of "$work/x" bn1.running_var)" = 0.9000
ok 'in four parts' with "$work/y" "${net[@]}" --steps 1 --micro-batch 4
ok 'four moves' test "$(first_of "$work/y" bn1.running_var)" = 0.6561
brings=()

net=(--arch resnet8,width=8 --head 16-8 --threads 1 --micro-batch 8)
ok 'batch norm' with "$work/a" "${net[@]}"
ok 'stops' with "$work/b" "${net[@]}" --steps 3
ok 'goes on' with "$work/b" --resume
ok 'goes on, to the same bits' diff -r "$work/a/latest/" "$work/b/latest/"
ok 'other micro-batches: 1' refuses 1 '--micro-batch is 4, but 8' \
    "$BIN/foil-train" -r "$work/b" --resume --micro-batch 4

done_testing
