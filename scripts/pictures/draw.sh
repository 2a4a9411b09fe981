#!/usr/bin/env bash
# draw.sh: make the pictures of README.md, dataflow.svg and page.png, in this folder.
#
# usage: scripts/pictures/draw.sh      after make and `scripts/setup page`
#
# The page is that of a run of two minutes on generated images, in a browser.
set -euo pipefail
here=$(cd "${0%/*}" && pwd)
BIN=${BIN:-$here/../../build/release/bin}
PATH=$(cd "$BIN" && pwd):$PATH
export OMP_NUM_THREADS=1
if ! command -v chromium >/dev/null; then
    echo 'draw.sh: no chromium here: scripts/setup page' >&2
    exit 1
fi
work=$(mktemp -d)
stages=()
clean_up() {
    kill -TERM "${stages[@]}" 2>/dev/null || true
    wait || true
    rm -rf "$work"
}
trap clean_up EXIT
cd "$work"
foil-data generate -o shapes.tar --size 32 2000
foil-data index shapes.tar
foil run emc2 shapes.tar -r shapes --augmenters 2 --threads 1 --batch 56 --epochs 1000 \
    --arch resnet8,width=8 --lr .1 --checkpoint-every 100 2>run.err &
stages+=("$!")
# is_there FILE : once it is, while the stages run
is_there() {
    until [[ -s $1 ]]; do
        for stage in "${stages[@]}"; do
            kill -0 "$stage"
        done
        sleep .2
    done
}
is_there shapes/metrics.jsonl
foil-view --port 0 -r shapes >address &
stages+=("$!")
is_there address
/usr/bin/python3 "$here/draw.py" "$(<address)" "$here"
ls -l "$here"/*.svg "$here"/*.png
