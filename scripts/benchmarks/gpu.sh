#!/usr/bin/env bash
# gpu.sh: how long a GPU waits.  A network in bfloat16 trains on a GPU by foil.encode(),
# in an ordinary loop on DataLoader with a worker for each processor, and alone, on
# a batch of noise in its memory: ResNet-18 with batches of 512 and of 2,048 images at 32 px
# (CIFAR-10), then ResNet-50 with batches of 256 images of 500x375 at 224 px.  Images a second, in
# STEPS steps.  PYTHON is one whose PyTorch has CUDA; DEVICE=cpu tries the benchmark.
set -eu
bin=$(cd "${BIN:-build/release/bin}" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
export PATH=$bin:$PATH PYTHONPATH=$here/../../pipelines/python DEVICE=${DEVICE:-cuda}

# shellcheck source=scripts/benchmarks/common.bash
. "${0%/*}/common.bash"
python=${PYTHON:-$python}
wants gpu torchvision
if [[ $DEVICE == cuda ]] && ! "$python" -c '
import sys, torch
sys.exit(not torch.cuda.is_available())'; then
    echo 'bench gpu skipped: no GPU'
    exit
fi
scratch
steps=${STEPS:-60}

# by_foil NET INDEX BATCH SIZE EPOCHS : images a second
by_foil() {
    foil run simclr --no-compare "$2" -r "$work/$1-$3" --epochs "$5" --batch "$3" --size "$4" \
        --recipe cifar --remainder drop --train.objective ,tau=0.1 --lr 0.1 --warmup 0 --steps "$steps" \
        --checkpoint-every 0 \
        --encoder "'$python' '$here/gpu_peer.py' encode $1" 2>"$work/$1-$3.err" || {
        cat "$work/$1-$3.err" >&2
        return 1
    }
    # and what a step waits for: images, all else but the encoder's process
    "$python" - "$work/$1-$3/metrics.jsonl" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    steps = [json.loads(line) for line in file]
steps = steps[len(steps) // 4:]
length = steps[-1]["time"] - steps[0]["time"]
print(f"{(steps[-1]['images'] - steps[0]['images']) / length:.0f}",
      f"{100 * sum(s['waited'] for s in steps[1:]) / length:.1f}")
END
}

# compare NAME NET TAR BATCH SIZE
compare() {
    local images ours waited plain alone
    foil data index -o "$work/$1.foil" "$3" 2>/dev/null
    images=$(foil data info "$work/$1.foil" | awk '/^samples/ { print $2 }')
    read -r ours waited < <(by_foil "$2" "$work/$1.foil" "$4" "$5" \
        $((steps / (images / $4) + 1)))
    plain=$("$python" "$here/gpu_peer.py" plain "$2" "$work/$1.foil" "$4" "$5" "$steps")
    alone=$("$python" "$here/gpu_peer.py" alone "$2" "$4" "$5" "$steps")
    printf 'bench gpu-%s ours %s images/s peer %s ratio %s\n' "$1" "$ours" "$plain" \
        "$(ratio 2 "$ours" "$plain")"
    echo "# of the GPU alone, $alone images/s: $(ratio 2 "$ours" "$alone");" \
        "foil-train waits for images for $waited % of the time"
}

wants_data gpu
for batch in ${BATCHES-512 2048}; do
    compare "cifar10-$batch" resnet18 "$data/${CIFAR:-cifar10-train.tar}" "$batch" 32
done
photos=${PHOTOS:-1024}
if ((photos)); then
    "$python" "$here/photos.py" "$work/photos.tar" "$photos"
    compare photos resnet50 "$work/photos.tar" $((photos < 256 ? photos : 256)) 224
fi
