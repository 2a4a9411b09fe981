#!/usr/bin/env bash
# Runs the examples in the text of README.md and foil-python(7), with fewer images, one
# epoch and on the CPU.
# Not for sanitizers: other tests run the stages of pipelines.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
root=$(cd "${0%/*}/../.." && pwd)
export PATH=$BIN:/usr/bin:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
unset PYTHONPATH # foil has foil.py found
[[ ! -e $BIN/../libfoil.so.1 ]] || export LIBFOIL=$BIN/../libfoil.so.1
if ! has_python numpy torch torchvision; then
    skip 'examples of pages' 'no python3-torchvision'
    done_testing
fi
cd "$work" || exit
foil-data generate --size 32 -o images.tar 48 2>/dev/null
mkdir -p photos/{a,b} held-out/{a,b}
tar xf images.tar --wildcards '*.jpg'
for ((i = 0; i < 48; i++)); do
    if ((i < 32)); then part=photos; else part=held-out; fi
    ((i % 2)) && class=a || class=b
    mv "$(printf %06d "$i").jpg" "$part/$class/"
done
cp "$root"/pipelines/python/{encoder,curriculum,methods/{byol,parts}}.py .

# smaller : changes a block to a small run
smaller() {
    sed -E ':a; /\\$/ { N; s/\\\n *//; ba }
        s/device="cuda"/device="cpu"/; s/batch=128/batch=16/; s/epochs=50/epochs=1/
        s/--minutes 10/--minutes 0.01 --batch 16/
        s/^(foil run .*)/\1 --epochs 1 --batch 16/
        s/^foil run .*/& --augmenters 1 --threads 1 --no-compare/; s/ +#.*//'
}

# runs FILE : runs a block of commands
runs() {
    rm -rf run/simclr run/spectral
    timeout -k 5 250 bash -eo pipefail "$1"
}

# program FILE : runs a block of Python after the definitions that the text assumes
program() {
    {
        cat <<'end'
import foil, torch, torchvision
device, folder = "cpu", "."
labels = torch.arange(100)
net = torchvision.models.resnet18(num_classes=8)
optim = torch.optim.SGD(net.parameters(), 0.01)
end
        cat "$1"
    } >program.py
    PYTHONPATH=$root/pipelines/python runs <(echo python3 program.py)
}

# ------------------------------------------------------------------- README.md
# writes each indented block to a file
awk '/^    / { if (!inside) n++; inside = 1; print substr($0, 5) > ("readme." n); next }
    { inside = 0 }' "$root/README.md"
seen=0
for ((i = 1; ; i++)); do
    [[ -e readme.$i ]] || break
    smaller <"readme.$i" >block
    first=$(head -n 1 "readme.$i")
    case $first in
    'make demo'* | 'make check'* | 'foil-data  '* | 'floor '*) # run by demo.sh, or no commands
        continue
        ;;
    'make install '*) # run by install.sh; foil view is killed when it has started
        sed -i '/^make install/d; s/^foil view .*/& --port 0 >page 2>\&1 \&/' block
        echo "until grep -q http page; do sleep 0.1; done; kill \$!; wait \$! || true" >>block
        ok "$first" runs block
        ok 'foil run writes a sheet of neighbours' test -s run/photos/near.png
        ;;
    'import foil, torchvision'*)
        cp block mine.py
        continue # the next block runs it
        ;;
    'import torch')
        cat - block >program.py <<'end'
import foil, torch
x = torch.from_numpy(foil.features("raw.npy").x).view(-1, 32, 32, 3)
about = foil.checkpoint("run/photos").config["encoder"]
x = (x - torch.tensor(about["mean"])) / torch.tensor(about["deviation"])
x, y = x[:8].permute(0, 3, 1, 2), torch.arange(8)
end
        cat >>program.py <<'end'
first = torch.nn.functional.cross_entropy(net(x), y)
for _ in range(4):
    optim.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optim.step()
print("from", first, "to", loss)
assert loss < first
end
        foil-embed --raw --size 32 -o raw.npy photos/ 2>/dev/null
        ok 'fine-tuning the exported encoder lowers the loss' \
            env PYTHONPATH="$root/pipelines/python" python3 program.py
        ;;
    'import foil, torch') ok "$first, for batch in foil.views()" program block ;;
    *--strategy-command*)
        cat >mine.py <<'end'
import foil
foil.plan_batches(lambda o: range(o.samples) and __import__("numpy").arange(o.samples))
end
        ok "$first" runs block
        ;;
    *SELECT*) # lines of the script by-hand
        ok 'the lines are those of by-hand' test "$(sed 's/ *#.*//' block |
            grep -cxFf <(sed 's/^ *//' "$root/pipelines/by-hand"))" -eq "$(wc -l <block)"
        # shellcheck disable=SC2016 # for the block
        {
            echo 'run=hand data=photos.foil resume= BATCH=16 EPOCHS=1; mkdir "$run"'
            echo 'trap "kill \$(jobs -p) 2>/dev/null || true; wait" EXIT'
            cat block
        } >by-hand
        ok "$first" runs by-hand
        ;;
    'foil run '* | 'foil embed '*) ok "$first" runs block ;;
    *) ok "$first: unknown block" false ;;
    esac
    seen=$((seen + 1))
done
ok 'README has all examples' test "$seen" -eq 7

# -------------------------------------------------------------- foil-python(7)
awk '/^\.Bd -literal/ { n++; inside = 1; next } /^\.Ed/ { inside = 0 }
    inside { gsub(/\\e/, "\\"); print > ("python." n) }' "$root/tools/foil-python.7"
seen=0
for ((i = 1; ; i++)); do
    [[ -e python.$i ]] || break
    smaller <"python.$i" >block
    first=$(head -n 1 "python.$i")
    seen=$((seen + 1))
    case $first in
    *foil.encode* | 'net = '*)
        cat - block >mine.py <<<'import foil, torch, torchvision'
        ok "$first" runs <(echo "foil run simclr photos/ --epochs 1 --batch 16" \
            "--augmenters 1 --threads 1 --no-compare --encoder 'python3 mine.py'")
        ;;
    'foil run '*) ok "$first" runs block ;;
    *) ok "$first" program block ;;
    esac
done
ok 'foil-python(7) has all examples' test "$seen" -ge 6
done_testing
