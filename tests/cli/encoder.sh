#!/usr/bin/env bash
# A user's encoder by foil-encoder(5) only: the example in NumPy is killed and resumed;
# and runs with a faulty program.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
examples=$(cd "${0%/*}/../../pipelines/examples" && pwd)
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1

if ! has_python numpy; then
    skip 'an encoder in NumPy' 'no python3-numpy'
    done_testing
fi
data=$work/data.tar
foil-data generate --size 8 -o "$data" 64 2>/dev/null
foil-data index "$data" 2>/dev/null
program="/usr/bin/python3 '$examples/encoder.py'"
augment_with=(--size 8)
select_with=(--batch 8 --epochs 60)
cd "$work" || exit

# same A B : both runs have the same checkpoints and losses
same() {
    local part
    for part in model samples; do
        cmp "$1/latest/$part.safetensors" "$2/latest/$part.safetensors" || return
    done
    cmp "$1/latest/image.state" "$2/latest/image.state" &&
        diff <(timeless "$1") <(timeless "$2")
}

# one OBJECTIVE OPTION... : an undisturbed run
one() {
    train_with=(--lr 0.1 --warmup 0 --checkpoint-every 50 --objective "$@")
    trained "$objective-whole" --encoder "$program" 2>whole.err ||
        { cat whole.err; return 1; }
}

# killed RUN : the trainer is killed and resumed three times
killed() {
    local at feeders=() resume=()
    foil-augment -r "$1" "${augment_with[@]}" "$data" 2>augment.err &
    feeders+=($!)
    foil-select -r "$1" "${select_with[@]}" "$data" 2>select.err &
    feeders+=($!)
    for at in 70 190 330; do
        foil-train -r "$1" --threads 1 "${train_with[@]}" "${resume[@]}" \
            --encoder "$program" 2>>killed.err &
        trainer=$!
        reaches "$1" "$at" || { cat killed.err; return 1; }
        kill_now "$trainer"
        resume=(--resume)
    done
    foil-train -r "$1" --threads 1 "${train_with[@]}" --resume \
        --encoder "$program" 2>>killed.err && wait "${feeders[@]}"
}

for objective in isogclr emc2; do
    options=("$objective")
    [[ $objective != emc2 ]] || options+=(--sampler trainer)
    ok "$objective: a run with an encoder in NumPy succeeds" one "${options[@]}"
    ok "$objective: a run that is killed and resumed three times succeeds" \
        killed "$objective-killed"
    ok "$objective: the killed run has the same weights, state and losses" \
        same "$objective"-{whole,killed}
done

# The first program gets 700 lines, some hundred steps, and then kills itself; the second
# one continues.
dies_once="if mkdir '$work/died' 2>/dev/null
then sed -u 700q | $program; kill -KILL \$\$
else exec $program; fi"

# lost : only the program is killed
lost() {
    trained lost --encoder "$dies_once" --encoder-lost resume 2>lost.err ||
        { cat lost.err; return 1; }
}
ok '--encoder-lost resume restarts a killed program' lost
ok 'foil-train reports that it begins again from the last checkpoint' \
    grep -q 'resuming from the last checkpoint' lost.err
ok 'a run with a killed program has the same result' same emc2-whole lost

ok 'an encoder with recorded requests trains' trained recorded \
    --encoder "tee '$work/recorded.lines' | $program"
ok 'foil-train sends the next batch in a request expect' \
    becomes_true grep -q '^expect image slot=' \
    recorded.lines
# halted : trains and records requests; a command with --resume must be the same
halted() {
    : >halted.lines
    trained halted --encoder "tee '$work/halted.lines' | $program" "$@" &&
        becomes_true grep -q '^expect image slot=' halted.lines
}
ok 'foil-train sends the next batch in a request expect before a stop' halted --steps 20
ok 'foil-train sends the next batch in a request expect when resumed' \
    halted --steps 40 --resume
# computed : the features of own.npy are those of the weights
computed() {
    foil-embed --raw --size 8 -o raw.npy "$data"
    PYTHONPATH=$examples/../python /usr/bin/python3 - <<'END'
import foil, numpy as np
w = foil._read_safetensors("emc2-whole/latest/model.safetensors")["fc.weight"]
off = np.load("own.npy") - (np.load("raw.npy") - 0.5) @ w.reshape(16, -1).T
assert abs(off).max() < 1e-5, abs(off).max()
END
}
ok 'foil-embed starts the program of the checkpoint' \
    foil-embed -o own.npy emc2-whole "$data"
ok 'the program computes the features by the weights of the checkpoint' computed
ok '--export of an encoder in a program exits with 1' \
    refuses 1 'only that program computes it, and exports it, as by torch.save' \
    foil-embed --export none.safetensors emc2-whole

train_with=(--lr 0.1 --warmup 0 --steps 5)
ok 'a program that exits ends the run with 1' exits 1 \
    trained gone --encoder 'exit 3'
ok 'the error names the program that exited' \
    grep -q "encoder: 'exit 3' ended with code 3" out
ok '--objective external without a loss in the program exits with 1' exits 1 \
    trained none --encoder "$program" --objective external
ok '--objective external without --encoder exits with 2' refuses 2 'needs --encoder' \
    foil-train -r no --objective external
train_with=(--lr 0.1 --warmup 0)
sed 's/= there.copy()/= there.astype("f2").astype("f4")/' "$examples/encoder.py" >rounds.py
rounds="/usr/bin/python3 '$work/rounds.py'"
ok 'a program that rounds its weights trains' trained rounds --encoder "$rounds" --steps 5
ok '--resume of a program that rounds its weights exits with 1' \
    refuses 1 "another 'fc.weight' than put wrote" \
    trained rounds --encoder "$rounds" --steps 8 --resume
ok 'foil-tap check accepts a trainer with an encoder in a program' \
    timeout "$patience" bash -c "
    foil-train -r kit --threads 1 --encoder \"$program\" 2>kit.err &
    foil-tap check train -r kit || { cat kit.err; exit 1; }"
done_testing
