#!/usr/bin/env bash
# Faulty programs of --encoder (faulty_encoder.py): foil-train and foil-embed end in time
# with the message of the row, or succeed; they leave neither process nor file.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
# not the warm Python: descriptors and children must be the program's own; without
# `site` Python starts in 10 ms
faulty=$(cd "${0%/*}" && pwd)/faulty_encoder.py
cd "$work" || exit
data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 64 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
augment_with=(--size 8)
select_with=(--batch 8 --epochs 2)
train_with=(--warmup 0 --lr 0.01 --checkpoint-every 4 --steps 8)

# is_clean RUN : no partly written checkpoint is left
is_clean() {
    local left
    left=$(find "$1" -name '.step-*' -o -name '*.new')
    test -z "$left" || { echo "left: $left"; return 1; }
}

# ended TOOL WAY CODE WANT SENTENCE : with that code, and that message in TOOL-WAY.err
ended() {
    tail -n 20 "$1-$2.err"
    [[ $3 -eq $4 ]] || { echo "exit code $3, want $4"; return 1; }
    grep -q "^foil-$1: .*$5" "$1-$2.err" || { echo "no '$5'"; return 1; }
}

# attempt_train WAY CODE LIMIT SENTENCE : train with that fault
attempt_train() {
    local code=0
    trained "$1" --encoder "exec /usr/bin/python3 -SE '$faulty' $1" \
        --command-limit "$3" 2>"train-$1.err" || code=$?
    ended train "$1" "$code" "$2" "$4" && is_clean "$1"
}

# attempt_embed WAY CODE LIMIT SENTENCE : embed by the checkpoint of `good` with that fault
attempt_embed() {
    local code=0 made
    mkdir "made-$1"
    "$BIN/foil-embed" -o "made-$1/x.npy" --batch 16 --command-limit "$3" \
        --encoder "exec /usr/bin/python3 -SE '$faulty' $1" good "$data" \
        2>"embed-$1.err" || code=$?
    ended embed "$1" "$code" "$2" "$4" || return
    made=$(ls -A "made-$1")
    [[ $code -eq 0 && $made == *x.npy* || $code -ne 0 && -z $made ]] ||
        { echo "made: $made"; return 1; }
}

# each_fault TOOL : attempts the rows of standard input, WAY CODE LIMIT SENTENCE, several
# at a time, since a run mostly waits.  The limit is short where the program is silent; the
# message does not depend on it.
each_fault() {
    local -r at_once=6
    local -a rows
    local i way code limit sentence
    mapfile -t -O 1 rows
    for ((i = 1; i <= ${#rows[@]} + at_once; i++)); do
        if ((i > at_once)); then
            read -r way code limit sentence <<<"${rows[i - at_once]}"
            ok "foil-$1: the fault $way exits with $code: $sentence" job_ok "$1-$way"
        fi
        if ((i <= ${#rows[@]})); then
            read -r way code limit sentence <<<"${rows[i]}"
            start_job "$1-$way" "attempt_$1" "$way" "$code" "$limit" "$sentence"
        fi
    done
}

each_fault train <<'END'
good             0 60 8 steps
no-dim           1 60 want dim=D and one parameter
dim-zero         1 60 answered dim=0: want a whole number, 1 to 1048576
dim-negative     1 60 answered dim=-5: want a whole number, 1 to 1048576
dim-huge         1 60 answered dim=1[0]*: want a whole number, 1 to 1048576
shape-huge       1 60 want 'tensor NAME
shape-overflows  1 60 want 'tensor NAME
shape-zero       1 60 want 'tensor NAME
shape-negative   1 60 want 'tensor NAME
same-name        1 60 has two tensors 'a'
odd-name         0 60 8 steps
many-tensors     1 60 answered more than 10000 lines and no 'ok'
same-line        1 60 answered 'hello': want 'tensor NAME
long-line        1 60 answered a line of over 4096 bytes
long-engine      1 60 answered a line of over 4096 bytes
escapes          1 60 encoder: ?\[31mred?\]0;title?$
zero-byte        1 60 answered a line with a byte of zero in it
many-answers     1 60 answered what it was not asked
silent-open      1 .5 did not answer in time
smaller-memory   0 60 8 steps
larger-memory    0 60 8 steps
junk-memory      1 60 not finite
nan              1 60 not finite
infinite         1 60 not finite
silent           1 .5 did not answer in time
stopped          1 .5 did not answer in time
ends             1 60 ended with code 0 before it answered
killed           1 60 was ended by signal 9
closes-output    1 60 has closed its output without an answer
closes-input     1 .5 did not answer in time
leaves-session   1 60 ended with code 3 before it answered
unasked          1 60 answered what it was not asked
floods           1 .5 did not answer in time
norm-nan         1 60 not finite
norm-infinite    1 60 not finite
norm-negative    1 60 answered norm=-1: want a number, 0 or more
norm-junk        1 60 answered norm=1e: want a number, 0 or more
norm-long        1 60 answered a line of over 4096 bytes
steady-7         1 60 answered steady=7: want a whole number, 0 to 1
steps-negative   1 60 answered steps=-3: want a whole number, 0 to 9007199254740992
steps-huge       1 60 answered steps=1[0]*: want a whole number, 0 to 9007199254740992
saves-nothing    1 60 answered ok to save, but cannot open '.*image.state': No such file
saves-folder     1 60 answered ok to save, but '.*image.state' is no regular file
saves-link       1 60 answered ok to save, but '.*image.state' is no regular file
saves-pipe       1 60 answered ok to save, but '.*image.state' is no regular file
pipe-beside      0 60 image.state.more' is no regular file
link-beside      0 60 image.state.more' is no regular file
saves-more       0 60 8 steps
END
each_fault embed <<'END'
good             0 60 computes embeddings only: the features are z, not h
no-dim           1 60 want dim=D and one parameter
other-shape      1 60 model.safetensors': the shape of tensor 'a' is not
other-name       1 60 model.safetensors': tensor 'b' is missing
silent-open      1 .5 did not answer in time
put-error        1 60 encoder: no space on the device
load-error       1 60 encoder: not a state of mine
load-dies        1 60 ended with code 3 before it answered
get-changes      1 60 answers get with another 'a' than put wrote
nan              1 60 computes features that are not finite
infinite         1 60 computes features that are not finite
silent           1 .5 did not answer in time
stopped          1 .5 did not answer in time
ends             1 60 ended with code 0 before it answered
killed           1 60 was ended by signal 9
closes-output    1 60 has closed its output without an answer
leaves-session   1 60 ended with code 3 before it answered
unasked          1 60 answered what it was not asked
END

# ended_by SIGNAL CODE : foil-embed ends with that code, and so does a program that never
# answers; no file is made
ended_by() {
    local pid code=0
    rm -f program.pid
    "$BIN/foil-embed" -o none.npy --encoder 'echo $$ >program.pid; exec sleep 1000' \
        good "$data" &
    pid=$!
    waits_for program.pid && kill "-$1" "$pid"
    wait "$pid" || code=$?
    [[ $code -eq $2 && ! -e none.npy ]] || { echo "exit code $code, want $2"; return 1; }
    becomes_true gone "$(<program.pid)"
}
ok 'SIGTERM of foil-embed exits with 1 and ends the program' ended_by TERM 1
ok 'SIGKILL of foil-embed ends the program' ended_by KILL 137

train_with=(--resume --steps 12 --override encoder)
ok 'a checkpoint has no other files that a program wrote' \
    trained saves-more \
    --encoder "exec /usr/bin/python3 -SE '$faulty' good"
done_testing
