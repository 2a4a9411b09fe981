#!/usr/bin/env bash
# The commands of foil-tutorial(7), in its order: with fewer images and one epoch.
# Not for sanitizers: pipelines, whose stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
root=$(cd "${0%/*}/../.." && pwd)
export PATH=$BIN:/usr/bin:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH # foil has foil.py found

# commands : those of the page, each behind a line "=", as a shell reads them
commands() {
    sed -n '/^\.Bd -literal$/,/^\.Ed$/p' "$root/tools/foil-tutorial.7" |
        sed -n '/^\./!p' | sed 's/\\e$/\\/; s/^\$ /=\n/' |
        sed 's/--size 64 2000/--size 32 96/; s/ --batch 64//; s/--epochs [13]0/--epochs 1 --batch 32/'
}

cd "$work" || exit
commands >page
n=$(grep -c '^=$' page)
ok 'the page has its commands' test "$n" -ge 18
for ((i = 1; i <= n; i++)); do
    awk -v i="$i" '/^=$/ { at++; next } at == i' page >typed
    first=$(head -n 1 typed)
    if grep -q encoder.py typed && ! has_python numpy torch torchvision; then
        skip "$first" 'no python3-torchvision'
        continue
    fi
    grep -q '^foil run ' typed && sed -i '$s/$/ --augmenters 1 --threads 1/' typed
    ok "$first" timeout -k 5 200 bash -eo pipefail typed
done
ok 'pictures are there' test -s alike.png -a -s views.png -a -s first.html -a -s map.png
ok 'as is the folder for others' test -s first.d/README.md
done_testing
