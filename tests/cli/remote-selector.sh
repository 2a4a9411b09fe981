#!/usr/bin/env bash
# foil-select on a machine of its own: a network namespace, tcp with CURVE.
# The addresses exist only in the two namespaces that this test makes.
# Not for sanitizers: its stages are in others.
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
# an interface goes with its namespace, and its peer with it
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"
    ip netns del "$far"; ip netns del "$near" 2>/dev/null' EXIT
trap 'exit 1' INT TERM HUP

# link : the two namespaces, joined by a cable
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

# key HOLDER ROLE : a certificate of its own, in $work/HOLDER.key_secret
key() {
    mkdir -p "$work/keys"
    "$BIN/foil-tap" --role "$2" keys "$work/keys" "$1" >/dev/null 2>&1
    mv "$work/keys/$1.key_secret" "$work/"
}
key select select
key augment augment
mkdir "$work/friends"
cp "$work/keys/"*.key "$work/friends"
key stranger augment # who knows the selector, and whom it does not

# select_far OPTIONS... : in the far namespace, its number in $selector
select_far() {
    timeout "$patience" ip netns exec "$far" "$BIN/foil-select" --plan "$plan" \
        --keys "$work/select.key_secret" --allow "$work/friends" -b 4 -e 3 \
        "$data" 2>"$work/select.err" &
    selector=$!
}

# augment_near HOLDER : in the near namespace, for the background
augment_near() {
    exec timeout "$patience" ip netns exec "$near" "$BIN/foil-augment" \
        -r "$work/run" --plan "$plan" --keys "$work/$1.key_secret" \
        --allow "$work/friends" --size 8 "$data"
}

# train : until the plan is done
train() {
    timeout "$patience" "$BIN/foil-train" -r "$work/run" --arch linear --head 8 \
        --threads 1 2>"$work/train.err"
}

# checkpoint : the digest of the model
checkpoint() {
    sha256sum <"$work/run/latest/model.safetensors"
}

# the reference: everything on one machine
timeout "$patience" "$BIN/foil-select" -r "$work/run" -b 4 -e 3 "$data" 2>/dev/null &
timeout "$patience" "$BIN/foil-augment" -r "$work/run" --size 8 "$data" 2>/dev/null &
ok 'a run on one machine' train
checkpoint >"$work/here"
wait
rm -rf "$work/run"

select_far
ok 'tcp without keys: 1' refuses 1 'key' ip netns exec "$near" \
    "$BIN/foil-augment" -r "$work/run" --plan "$plan" --size 8 "$data"
augment_near stranger 2>"$work/stranger.err" &
stranger=$!
ok 'an unknown key is refused' becomes_true grep -q 'key' "$work/select.err"
ok 'and told so' becomes_true grep -q 'does not allow our key' \
    "$work/stranger.err"
kill "$stranger"

augment_near augment 2>"$work/augment.err" &
augmenter=$!
ok 'a run with the selector elsewhere' train
ok 'the selector ends with it' wait "$selector"
ok 'so does the augmenter' wait "$augmenter"
checkpoint >"$work/there"
ok 'the same weights, bit for bit' cmp "$work/here" "$work/there"

# -------------------------------------- the pipeline, and a link that is cut

"$BIN/foil-data" generate --size 16 -o "$work/more.tar" 512 2>/dev/null
"$BIN/foil-data" index "$work/more.tar" 2>/dev/null
epochs=18

# piped RUN OPTIONS... : the pipeline, plans from features
piped() {
    timeout "$patience" ip netns exec "$near" "$BIN/foil" run remote-selector \
        "$work/more.tar" -r "$work/$1" --strategy swap --seed 5 --batch 8 \
        --epochs "$epochs" --threads 1 --augment '--size 8' \
        --train '--arch linear --head 32-16 --checkpoint-every 500' "${@:2}"
}

# ends RUN : well, with all its steps
ends() {
    ended "$1" && test "$(steps "$1")" -eq $((64 * epochs)) && return
    tail -n 5 "$work/$1"/log/*
    return 1
}

# cut : no word gets through for twice as long as it takes to be given up
cut() {
    ip -n "$near" link set foil1 down
    nap 6
    ip -n "$near" link set foil1 up
}

midway() {
    has_steps cut 100 && has_steps policy 100
}

ip -n "$near" link set lo up
begun home piped home
remote=(--at "ip netns exec $far" --there 10.63.0.1 --here 10.63.0.2)
begun cut piped cut "${remote[@]}"
begun policy piped policy "${remote[@]}" --plan-port 7003 --features-port 7004 \
    --select '--policy shuffle'
ok 'the selector elsewhere, for two runs: in the middle of an epoch' \
    becomes_true midway
cut
ok 'the link was cut for 6 s: the trainers wait' \
    kill -0 "${doing[cut]}" "${doing[policy]}"
ok 'the pipeline, all on one machine' ends home
ok 'one run gets to its end' ends cut
waited=$(jq -s 'map(.waited) | max' "$work/cut/metrics.jsonl")
echo "# the trainer waited $waited s at most"
ok 'the same weights' diff -r "$work/home/latest/" "$work/cut/latest/"
ok 'the same plans, and all else' diff <(timeless home) <(timeless cut)
ok 'with a policy nothing is lost' ends policy

# A connection that is closed by SIGKILL here.  As by ssh, what runs there is in another
# session, without our FOIL_GROUP, and its standard input ends with the connection.
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
ok 'a closed connection ends the selector there, and its folder goes' killed_here

done_testing
