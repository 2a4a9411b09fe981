#!/usr/bin/env bash
# foil.train(): kills of each of its processes, Ctrl-C and foil-stop; a resumed run has
# the result of an undisturbed one, and of the same network by foil.encode().
# Mostly waits, 20 s
# Not for sanitizers: programs in Python; encoder.sh has their stages.
# shellcheck disable=SC2016 # $PPID and $n are for other programs
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=$(cd "${0%/*}" && pwd)
export PATH=$BIN:/usr/bin:$PATH PYTHONPATH=$here/../../pipelines/python
export PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
if ! has_python numpy torch; then
    skip 'foil.train()' 'no python3-torch'
    done_testing
fi
warm numpy torch
cd "$work" || exit
foil-data generate --size 8 -o data.tar 64 2>/dev/null
foil-data index data.tar 2>/dev/null
train=("$python" "$here/trainer.py" "$work/data.tar")

start_job calm "${train[@]}" calm
start_job program foil run simclr data.tar -r program --objective isogclr --epochs 20 \
    --batch 16 --size 8 --augmenters 1 --threads 1 --no-compare --train \
    '--lr 0.05 --checkpoint-every 10' --encoder \
    "FOIL_MEMORY=/proc/\$\$/fd/3 exec '$python' '$here/trainer.py'"

# over RUN : no process of `foil run` uses it
over() {
    flock -n "$1/log/lock" true
}
# cut CODE AT COMMAND [again] : a training that runs a command in its pass AT ends with
# that exit code, and so do its stages
cut() {
    exits "$1" env AT="$2" DO="$3" "${train[@]}" cut "${@:4}" 2>cut.err || {
        cat cut.err
        return 1
    }
    becomes_true over cut
}
ok 'after SIGKILL of Python the stages end' cut 137 15 'kill -KILL $PPID'
ok 'after SIGKILL of foil-run Python raises an error' \
    cut 1 15 'pkill -KILL -x -P $PPID foil-run' again
ok 'Ctrl-C raises KeyboardInterrupt' cut 130 15 'kill -INT $PPID' again
ok 'its message says how to continue' grep -q "^stopped: .*run='cut', resume=True" cut.err
ok 'Ctrl-C saves the last step' jq -e --argjson n "$(steps cut)" '.state.total == $n' \
    cut/latest/config.json
ok 'SIGTERM raises SystemExit(143)' cut 143 15 'kill -TERM $PPID' again
ok 'SIGTERM saves the last step' jq -e --argjson n "$(steps cut)" '.state.total == $n' \
    cut/latest/config.json
ok 'foil-stop raises SystemExit(143)' cut 143 6 'foil-stop --no-wait cut' again
ok 'a training ends after kills and stops' "${train[@]}" cut again
ok 'an undisturbed training ends' job_ok calm
ok 'the same program by foil run ends' job_ok program
for other in cut program; do
    ok "$other: the steps of the undisturbed training" \
        diff <(timeless calm) <(timeless "$other")
    for file in model.safetensors head.safetensors samples.safetensors; do
        ok "$other: the same $file" cmp {calm,"$other"}/latest/"$file"
    done
done
ok 'the resumed training has the checkpoint of the undisturbed one' \
    diff -r calm/latest/ cut/latest/
ok 'a complete training changes nothing' "${train[@]}" cut again
ok 'a run that exists: FileExistsError' refuses 1 \
    "FileExistsError: 'cut' holds a run: resume=True" "${train[@]}" cut
ok 'an exception of the network is raised' refuses 1 '^subprocess.CalledProcessError' \
    env AT=5 DO=false "${train[@]}" dies
ok 'no stage is left after an exception' over dies

ok 'a DataLoader has each sample once, with any number of workers' "$python" - <<'end'
import foil, torch
want = {i: x for b in foil.views("data.tar", batch=24, size=8)
        for i, x in zip(b.ids.tolist(), torch.from_numpy(b.views.copy()).transpose(0, 1))}
dataset = foil.views("data.tar", batch=24, size=8).dataset()
for workers in 0, 1, 3:
    batches = list(torch.utils.data.DataLoader(dataset, batch_size=None,
                                               num_workers=workers))
    assert len(batches) == len(dataset) == 3, workers
    ids = torch.cat([ids for _, ids in batches]).tolist()
    assert sorted(ids) == list(range(64)), (workers, ids)
    for x, rows in batches:
        assert x.shape == (2, len(rows), 3, 8, 8) and x.dtype == torch.uint8
        for i, view in zip(rows.tolist(), x.permute(1, 0, 3, 4, 2)):
            assert (view == want[i]).all()
end
done_testing
