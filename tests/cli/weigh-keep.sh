#!/usr/bin/env bash
# foil-negatives --keep: the table of a program that weighs is as after the last step,
# whichever process is killed.
# Mostly waits, 10 s
# Not for sanitizers: programs in Python; weigh-command.sh has their stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# shellcheck source=tests/commands.sh
. "${0%/*}/../commands.sh"
if ! has_python numpy; then
    skip 'a table that is kept' 'no python3-numpy'
    done_testing
fi
python=$(cd "${0%/*}/../../pipelines/python" && pwd)
export OMP_NUM_THREADS=1 PYTHONPATH=$python PYTHONDONTWRITEBYTECODE=1
data=$work/data.tar
"$BIN/foil-data" generate -o "$data" --size 16 256 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null

# counts how often each sample was in a batch; the weights depend on that
cat >"$work/count.py" <<'end'
import foil, numpy as np
def weigh(pairs):
    seen = pairs.kept.view("f4")
    seen[pairs.owner[:pairs.batch]] += 1
    w = np.where(pairs.owner[:pairs.anchors, None] == pairs.owner, 0, seen[pairs.owner])
    return w / w.sum(1, keepdims=True), {"seen": seen.sum()}
foil.weigh_negatives(weigh)
end
program="echo \$\$ >>'$work/programs'; exec /usr/bin/python3 '$work/count.py'"
service=(--keep 1024 --weigh-command "$program")
ok 'a program with a table weighs' weighs calm "${service[@]}"
ok 'each step sees the table of the step before' jq -se \
    'map(.seen) == [range(8; 769; 8)]' "$work/calm/metrics.jsonl"
ok 'the checkpoint has the table' /usr/bin/python3 - "$work/calm" <<'end'
import sys, foil
table = foil.checkpoint(sys.argv[1]).samples["sampler.kept"]
assert (table.view("f4") == 3).all() and table.shape == (1, 1024)
end
ok 'a run with kills succeeds' \
    weighs_killed killed "$work/programs" "${service[@]}"
ok 'the killed run gives the same bits' like calm killed
# again OPTION... : resumes the run with another service
again() {
    train calm --objective emc2 --resume
    augment calm
    epochs=4 plan calm
    weigh calm "$@"
    local code=0
    ends calm || code=$?
    kill "$weigher"
    wait "$weigher" || code=100
    return "$code"
}
ok 'another size of the table ends the run' \
    exits 1 again --keep 1000 --weigh-command "$program"
ok 'the message names both sizes' \
    grep -q "foil-train: .*table 'kept' in rows of 1024 bytes, not that of --keep 1000" "$work/calm/log"
ok '--keep without --weigh-command exits with 2' refuses 2 'belongs to --weigh-command' \
    "$BIN/foil-negatives" -r "$work/x" --keep 3
done_testing
