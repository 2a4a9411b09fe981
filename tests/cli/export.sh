#!/usr/bin/env bash
# foil-embed --export and --onnx: encoders as files for other programs.
# NPM is the folder of scripts/try-npm with ONNX Runtime; if set, it is tested, too.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
embed=$BIN/foil-embed
onnx=$(cd "${0%/*}" && pwd)/onnx.py

cd "$work" || exit 1
"$BIN/foil-data" generate -o set.tar --size 32 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
data=set.tar # runs of two steps
augment_with=(--size 32) select_with=(--batch 12 --epochs 1) train_with=(--lr 1)
ok 'a ResNet trains' trained a --arch resnet18,width=8,stem=imagenet --head 8
ok 'a ResNet without norms trains' trained b --arch resnet8,width=8,norm=none
ok 'a ResNet with group norm trains' trained c --arch resnet8,width=8,norm=group
"$embed" -o a.npy a set.tar
"$embed" -o b.npy b set.tar
"$embed" --raw --size 32 -o raw.npy set.tar

ok 'foil-embed --export succeeds' "$embed" --export a.safetensors a
ok 'the exported tensors are those of the checkpoint' /usr/bin/python3 - <<'end'
import json, struct
def read(path):
    data = open(path, "rb").read()
    n, = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + n])
    about = head.pop("__metadata__")
    return {k: (v["dtype"], v["shape"],
                data[8 + n:][slice(*v["data_offsets"])])
            for k, v in head.items()}, about
ours, about = read("a.safetensors")
theirs, _ = read("a/latest/model.safetensors")
assert ours == {k: v for k, v in theirs.items() if "num_batches" not in k}
assert about["arch"] == "resnet18" and about["features"] == "64"
assert about["height"] == "32" and about["stem"] == "imagenet"
assert struct.pack("<3f", *json.loads(about["mean"])) == \
    struct.pack("<3f", .485, .456, .406), about["mean"]
assert "centre crop" in about["resize"] and len(about["checkpoint"]) == 32
end
ok 'another run starts with the exported encoder' trained d --arch resnet18,width=8 \
    --arch ,stem=imagenet --init a.safetensors --steps 1
ok '--export in a missing folder exits with 1' \
    refuses 1 'none/a.safetensors' "$embed" --export none/a.safetensors a
ok '--onnx to a full disk exits with 1' refuses 1 '/dev/full' "$embed" --onnx /dev/full a
ok '--export with -o exits with 2' refuses 2 'need CHECKPOINT alone' \
    "$embed" --export x.safetensors -o x.npy a
ok '--onnx with data exits with 2' refuses 2 'need CHECKPOINT alone' \
    "$embed" --onnx x.onnx a set.tar

ok '--onnx succeeds' "$embed" --onnx a.onnx a
ok '--onnx of an encoder without norms succeeds' "$embed" --onnx b.onnx b
ok '--onnx of group norm exits with 1' refuses 1 "'norm' cannot be exported to ONNX" \
    "$embed" --onnx c.onnx c
ok 'a refused --onnx leaves no file' test ! -e c.onnx
if has_python numpy; then
    for run in a b; do
        ok "$run.onnx gives an independent reader the same features" \
            /usr/bin/python3 "$onnx" --types "$run.onnx" raw.npy "$run.npy"
        cp "$work/out" "$run.types"
        off=$(tail -n 1 "$work/out")
        ok "$run.onnx: the features differ by rounding only" holds "$off < 1e-5"
    done
    ok 'the ONNX file has all kinds of nodes' \
        grep -q "Add BatchNormalization Conv Div Flatten \
GlobalAveragePool Identity MaxPool Relu Sub" a.types
else
    skip 'ONNX files give an independent reader the same features' 'no python3-numpy'
fi
if [[ -n ${NPM-} ]]; then
    for run in a b; do
        ok "$run.onnx gives ONNX Runtime the same features" \
            node "${onnx%/*}/onnxruntime.mjs" "$NPM" "$run.onnx" \
            raw.npy "$run.npy"
        off=$(tail -n 1 "$work/out")
        ok "$run.onnx in ONNX Runtime: the features differ by rounding only" \
            holds "$off < 1e-5"
        echo "# $off"
    done
fi
if has_python onnx; then
    ok "onnx.checker accepts the files" /usr/bin/python3 -c 'import onnx
for name in "a", "b":
    onnx.checker.check_model(onnx.load(name + ".onnx"), full_check=True)'
else
    skip 'onnx.checker accepts the files' 'no python3-onnx'
fi
done_testing
