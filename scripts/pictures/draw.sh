#!/usr/bin/env bash
# draw.sh: make the pictures of README.md, dataflow.svg and page.png, and page.html, the
# page that page.png shows, in this folder.
#
# usage: scripts/pictures/draw.sh      after make and `scripts/setup page`
#
# The page is that of a run of some minutes on generated images.
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
trap 'rm -rf "$work"' EXIT
cd "$work"
foil-data generate -o shapes.tar --size 32 4000
foil-data index shapes.tar
foil-data split --share 0.5 --seed 1 shapes.tar train.foil test.foil
foil run simclr train.foil test.foil -r shapes --threads 2 --batch 40 --epochs 12 \
    --arch resnet8 --head 128-64 --lr .1 --checkpoint-every 100 --keep 6
foil-eval follow --once -r shapes -k 1 train.foil test.foil
foil-view --points 96 --export "$here/page.html" shapes
/usr/bin/python3 "$here/draw.py" "file://$here/page.html" "$here"
ls -l "$here"/*.svg "$here"/page.*
[[ $(stat -c %s "$here/page.html") -le 600000 ]]
