#!/usr/bin/env bash
# The notebook pipelines/python/foil.ipynb runs, with fewer images and epochs.
# Not for sanitizers: other tests run its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
here=$(cd "${0%/*}/../../pipelines/python" && pwd)
export PATH=$BIN:/usr/bin:$PATH PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
export OMP_NUM_THREADS=1 IPYTHONDIR=$work/ipython JUPYTER_RUNTIME_DIR=$work/jupyter
[[ ! -e $BIN/../libfoil.so.1 ]] || export LIBFOIL=$BIN/../libfoil.so.1
if ! has_python nbconvert ipykernel numpy; then
    skip 'the notebook' 'no python3-nbconvert or python3-ipykernel'
    done_testing
    exit
fi
cd "$work" || exit
ok 'the notebook has no outputs' jq -e 'all(.cells[]; .outputs == null or
    (.outputs == [] and .execution_count == null))' "$here/foil.ipynb"
without=''
if ! has_python torch; then
    skip 'its part with PyTorch' 'no python3-torch'
    without='.cells |= map(select(.metadata.tags != ["pytorch"])) |'
fi
jq "$without"'.cells[].source |= map(gsub("shapes.tar 2000"; "shapes.tar 200") |
    gsub("epochs=6"; "epochs=2"))' "$here/foil.ipynb" >foil.ipynb
ok 'the notebook runs' python3 -m nbconvert --to notebook --execute --output done.ipynb \
    foil.ipynb
outputs='[.cells[].outputs[]?]'
ok 'it shows views, neighbours and the page' jq -e "$outputs |
    (map(select(.data.\"image/png\")) | length) == 2 and
    any(.[]; .data.\"text/html\" // [] | join(\"\") | contains(\"page.html\"))" done.ipynb
ok 'it shows the progress of each training' jq -e --argjson n "$(jq \
    '[.cells[].source[] | select(contains("= foil.train("))] | length' foil.ipynb)" \
    "$outputs | map(.data.\"text/html\" // [] | join(\"\") |
    select(startswith(\"<progress\") and contains(\"epoch 2 of 2\"))) |
    length == \$n and \$n > 0" done.ipynb
ok 'it prints the table and the accuracy' jq -e "$outputs | map(.text // [] | join(\"\")) |
    join(\"\") | contains(\"the trained encoder\") and contains(\"of the same class: 0.\")" \
    done.ipynb
ok 'the page has the run' grep -q 'run/shapes' page.html
done_testing
