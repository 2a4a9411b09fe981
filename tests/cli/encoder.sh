#!/usr/bin/env bash
# An encoder in a program of the user's, by foil-encoder(5) alone: the example in
# NumPy, killed and resumed, with foil-train and without.
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

# same A B : the checkpoints are equal, and all losses
same() {
    local part
    for part in model samples; do
        cmp "$1/latest/$part.safetensors" "$2/latest/$part.safetensors" || return
    done
    cmp "$1/latest/image.state" "$2/latest/image.state" &&
        diff <(timeless "$1") <(timeless "$2")
}

# one OBJECTIVE OPTION... : a run to its end
one() {
    train_with=(--lr 0.1 --warmup 0 --checkpoint-every 50 --objective "$@")
    trained "$objective-calm" --encoder "$program" 2>calm.err ||
        { cat calm.err; return 1; }
}

# killed RUN : the trainer is killed three times on its way, and resumed
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
        past "$1" "$at" || { cat killed.err; return 1; }
        kill_now "$trainer"
        resume=(--resume)
    done
    foil-train -r "$1" --threads 1 "${train_with[@]}" --resume \
        --encoder "$program" 2>>killed.err && wait "${feeders[@]}"
}

for objective in isogclr emc2; do
    options=("$objective")
    [[ $objective != emc2 ]] || options+=(--sampler trainer)
    ok "$objective: a run with an encoder in NumPy" one "${options[@]}"
    ok 'the same, killed three times and resumed' killed "$objective-killed"
    ok 'has the same weights, state and losses' same "$objective"-{calm,killed}
done

# The first program of a run gets so many lines, some hundred steps, and then kills
# itself; what is started again lives on.
mortal="if mkdir '$work/died' 2>/dev/null
then sed -u 700q | $program; kill -KILL \$\$
else exec $program; fi"

# lost : the program alone is killed on its way
lost() {
    trained lost --encoder "$mortal" --encoder-lost resume 2>lost.err ||
        { cat lost.err; return 1; }
}
ok 'a program that is killed is started again where that is asked for' lost
ok 'which is said' grep -q 'resuming from the last checkpoint' lost.err
ok 'the run is the same' same emc2-calm lost

ok 'a program whose lines are written down' trained heard \
    --encoder "tee '$work/heard.lines' | $program"
ok 'is told which batch comes next' becomes_true grep -q '^expect image slot=' \
    heard.lines
ok 'foil-embed has no such encoder: 1' refuses 1 \
    'only that program can compute it' \
    foil-embed -o none.npy emc2-calm "$data"

train_with=(--lr 0.1 --warmup 0 --steps 5)
ok 'without it the run ends with a sentence: 1' exits 1 \
    trained gone --encoder 'exit 3'
ok 'which names the program' grep -q "encoder: 'exit 3' ended with code 3" out
ok 'a loss that the program does not have: 1' exits 1 \
    trained none --encoder "$program" --objective own
ok '--objective own without a program: 2' refuses 2 'needs --encoder' \
    foil-train -r no --objective own
train_with=(--lr 0.1 --warmup 0)
sed 's/= there.copy()/= there.astype("f2").astype("f4")/' "$examples/encoder.py" >rounds.py
rounds="/usr/bin/python3 '$work/rounds.py'"
ok 'a program that rounds weights' trained rounds --encoder "$rounds" --steps 5
ok 'cannot resume them: 1' refuses 1 "another 'fc.weight' than put wrote" \
    trained rounds --encoder "$rounds" --steps 8 --resume
ok 'the kit, with a program in the trainer' timeout "$patience" bash -c "
    foil-train -r kit --threads 1 --encoder \"$program\" 2>kit.err &
    foil-tap check train -r kit || { cat kit.err; exit 1; }"
done_testing
