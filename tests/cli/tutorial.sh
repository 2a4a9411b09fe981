#!/usr/bin/env bash
# The commands of foil-tutorial(7), in its order, with fewer images and one epoch.
# Not for sanitizers: pipelines; other tests cover their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
root=$(cd "${0%/*}/../.." && pwd)
export PATH=$BIN:/usr/bin:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH # foil makes foil.py importable

# commands : prints the commands of the page, each after a line "=", as a shell reads them
commands() {
    sed -n '/^\.Bd -literal$/,/^\.Ed$/p' "$root/tools/foil-tutorial.7" |
        sed -n '/^\./!p' | sed 's/\\e$/\\/; s/^\$ /=\n/' |
        sed 's/--size 64 2000/--size 32 96/; s/ --batch 64//; s/--epochs [13]0/--epochs 1 --batch 32/'
}

cd "$work" || exit
commands >page
n=$(grep -c '^=$' page)
ok 'the page has at least 18 commands' test "$n" -ge 18
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
ok 'the commands of the page make their pictures' \
    test -s alike.png -a -s views.png -a -s first.html -a -s map.png
ok 'the commands of the page make the exported folder' test -s first.d/README.md
done_testing
