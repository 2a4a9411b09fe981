#!/usr/bin/env bash
# foil-select on another machine (a network namespace), by tcp with CURVE keys.
# The addresses exist only in the two namespaces that this test makes.
# Not for sanitizers: other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1

far=foil-far-$$ near=foil-near-$$
if ! ip netns add "$far" 2>/dev/null; then
    skip 'a selector on another host' 'ip netns is not allowed'
    done_testing
fi
# an interface and its peer are deleted with the namespace
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"
    ip netns del "$far"; ip netns del "$near" 2>/dev/null' EXIT
trap 'exit 1' INT TERM HUP

# link : connects the two namespaces
link() {
    ip netns add "$near" &&
        ip -n "$far" link add foil0 type veth peer name foil1 netns "$near" &&
        ip -n "$far" addr add 10.63.0.1/24 dev foil0 &&
        ip -n "$near" addr add 10.63.0.2/24 dev foil1 &&
        ip -n "$far" link set foil0 up &&
        ip -n "$near" link set foil1 up
}
if ! link 2>/dev/null; then
    skip 'a selector on another host' 'no veth in a namespace'
    done_testing
fi

data=$work/data.tar
"$BIN/foil-data" generate --size 8 -o "$data" 13 2>/dev/null
"$BIN/foil-data" index "$data" 2>/dev/null
plan=tcp://10.63.0.1:7001

# key HOLDER ROLE : makes its keys; the secret one is $work/HOLDER.key_secret
key() {
    mkdir -p "$work/keys"
    "$BIN/foil-tap" --role "$2" keys "$work/keys" "$1" >/dev/null 2>&1
    mv "$work/keys/$1.key_secret" "$work/"
}
key select select
key augment augment
mkdir "$work/friends"
cp "$work/keys/"*.key "$work/friends"
key stranger augment # has the selector's key, which does not allow it

# select_far OPTIONS... : starts foil-select in the far namespace, in $selector
select_far() {
    timeout "$patience" ip netns exec "$far" "$BIN/foil-select" --plan "$plan" \
        --keys "$work/select.key_secret" --allow "$work/friends" -b 4 -e 3 \
        "$data" 2>"$work/select.err" &
    selector=$!
}

# augment_near HOLDER : becomes foil-augment in the near namespace
augment_near() {
    exec timeout "$patience" ip netns exec "$near" "$BIN/foil-augment" \
        -r "$work/run" --plan "$plan" --keys "$work/$1.key_secret" \
        --allow "$work/friends" --size 8 "$data"
}

# train : a run to the end of the plan
train() {
    timeout "$patience" "$BIN/foil-train" -r "$work/run" --arch linear --head 8 \
        --threads 1 2>"$work/train.err"
}

# checkpoint : prints the digest of the model
checkpoint() {
    sha256sum <"$work/run/latest/model.safetensors"
}

# the reference: all stages on one machine
timeout "$patience" "$BIN/foil-select" -r "$work/run" -b 4 -e 3 "$data" 2>/dev/null &
timeout "$patience" "$BIN/foil-augment" -r "$work/run" --size 8 "$data" 2>/dev/null &
ok 'a run on one machine succeeds' train
checkpoint >"$work/here"
wait
rm -rf "$work/run"

select_far
ok 'tcp without keys exits with 1' refuses 1 'key' ip netns exec "$near" \
    "$BIN/foil-augment" -r "$work/run" --plan "$plan" --size 8 "$data"
augment_near stranger 2>"$work/stranger.err" &
stranger=$!
ok 'foil-select refuses an unknown key' becomes_true grep -q 'key' "$work/select.err"
ok 'foil-augment reports that its key is not allowed' \
    becomes_true grep -q 'does not allow our key' \
    "$work/stranger.err"
kill "$stranger"

augment_near augment 2>"$work/augment.err" &
augmenter=$!
ok 'a run with a remote selector succeeds' train
ok 'the remote selector exits with 0 at the end' wait "$selector"
ok 'the augmenter exits with 0 at the end' wait "$augmenter"
checkpoint >"$work/there"
ok 'a run with a remote selector has the same weights' cmp "$work/here" "$work/there"

# -------------------------------------- the pipeline, and an interrupted link

"$BIN/foil-data" generate --size 16 -o "$work/more.tar" 512 2>/dev/null
"$BIN/foil-data" index "$work/more.tar" 2>/dev/null
epochs=18

# piped RUN OPTIONS... : runs the pipeline with plans from features
piped() {
    timeout "$patience" ip netns exec "$near" "$BIN/foil" run remote-selector \
        "$work/more.tar" -r "$work/$1" --strategy swap --seed 5 --batch 8 \
        --epochs "$epochs" --threads 1 --augment '--size 8' \
        --train '--arch linear --head 32-16 --checkpoint-every 500' "${@:2}"
}

# ends RUN : it has ended with 0 after all its steps
ends() {
    job_ok "$1" && test "$(steps "$1")" -eq $((64 * epochs)) && return
    tail -n 5 "$work/$1"/log/*
    return 1
}

# cut : interrupts the link for twice the time after which a peer is given up
cut() {
    ip -n "$near" link set foil1 down
    nap 6
    ip -n "$near" link set foil1 up
}

midway() {
    has_steps cut 100 && has_steps policy 100
}

ip -n "$near" link set lo up
start_job home piped home
remote=(--at "ip netns exec $far" --there 10.63.0.1 --here 10.63.0.2)
start_job cut piped cut "${remote[@]}"
start_job policy piped policy "${remote[@]}" --plan-port 7003 --features-port 7004 \
    --select '--policy shuffle'
ok 'two runs with a remote selector train 100 steps' \
    becomes_true midway
cut
ok 'the trainers wait while the link is interrupted for 6 s' \
    kill -0 "${job_pid[cut]}" "${job_pid[policy]}"
ok 'the pipeline on one machine succeeds' ends home
ok 'a run with an interrupted link succeeds' ends cut
waited=$(jq -s 'map(.waited) | max' "$work/cut/metrics.jsonl")
echo "# the trainer waited $waited s at most"
ok 'a run with an interrupted link has the same weights' \
    diff -r "$work/home/latest/" "$work/cut/latest/"
ok 'a run with an interrupted link has the same metrics' \
    diff <(timeless home) <(timeless cut)
ok 'a run with --policy shuffle and an interrupted link succeeds' ends policy

# A connection that SIGKILL closes.  As with ssh, the remote process is in another
# session, without FOIL_GROUP, and its standard input ends with the connection.
cat >"$work/ssh" <<'END'
#!/usr/bin/env bash
exec 3<&0
setsid -w env -u FOIL_GROUP "$@" < <(exec cat <&3)
END
chmod 755 "$work/ssh"
mkdir "$work/there_tmp"
killed_here() {
    TMPDIR=$work/there_tmp "$BIN/foil" run remote-selector "$work/more.tar" \
        -r "$work/gone" --at "$work/ssh" --batch 8 --epochs 999 --threads 1 \
        --plan-port 7005 --features-port 7006 --augment '--size 8' \
        --train '--arch linear --head 32-16' &
    local pid=$!
    becomes_true has_steps gone 20 || return
    pgrep -f "until-closed.sh $work/there_tmp" >/dev/null || return
    kill -KILL "$pid"
    wait "$pid" 2>/dev/null
    becomes_true nothing_there
}
nothing_there() {
    ! pgrep -f "$work/there_tmp" >/dev/null && test -z "$(ls "$work/there_tmp")"
}
ok 'a closed connection ends the remote selector and deletes its folder' killed_here

# A selector that is killed in mid-epoch comes back with another seed.
cat >"$work/at" <<'END'
#!/usr/bin/env bash
words=("$@")
if [[ -e ${0%/*}/swap.now && "$*" == *' foil-select '*' --plan '* ]]; then
    for i in "${!words[@]}"; do
        [[ ${words[i]} != --seed ]] || words[i + 1]=7
    done
fi
exec "${words[@]}"
END
chmod 755 "$work/at"
swapped() {
    local pid selector code=0
    cd "$work" || return
    ip netns exec "$near" "$BIN/foil" run remote-selector more.tar -r swap \
        --at "$work/at" --strategy shuffle --seed 5 --batch 8 --epochs 8 --threads 1 \
        --plan-port 7007 --augment '--size 8' --no-compare \
        --train '--arch linear --head 32-16' &
    pid=$!
    becomes_true has_steps swap 80 || return
    : >swap.now
    for selector in $(pgrep -f 'foil-select.*127.0.0.1:7007'); do
        [[ $(<"/proc/$selector/comm") != foil-select ]] || kill -KILL "$selector"
    done
    wait "$pid" || code=$?
    return "$code"
}
# counts : how many samples each epoch trained, and how many different ones
counts() {
    /usr/bin/python3 - "$work/swap" <<'END'
import json, struct, sys
line = json.loads(open(sys.argv[1] + "/batches.jsonl").readline())
rows = open(sys.argv[1] + "/batches.i32", "rb").read()
epochs = {}
for row in struct.iter_unpack(f"<{line['width']}i", rows):
    epochs.setdefault(row[1], []).extend(row[3:3 + line["images"]])
print(*{f"{len(ids)} {len(set(ids))}" for ids in epochs.values()})
END
}
ok 'the pipeline with another selector from mid-epoch on succeeds' swapped
ok 'batches.jsonl has the plans of both selectors' \
    test "$(jq -r .plan "$work/swap/batches.jsonl" | grep -o 's [57]' | xargs)" = 's 5 s 7'
ok 'each epoch trains each sample once' test "$(counts)" = '512 512'

done_testing
