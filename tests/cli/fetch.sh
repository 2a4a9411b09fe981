#!/usr/bin/env bash
# Shards that a command fetches when they are read: --fetch.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

data=$BIN/foil-data
cd "$work" || exit 1
mkdir store index
for i in $(seq 10 29); do
    "$data" generate --size 16 -s "$i" -o "store/$i.tar" 12 2>>log
done
"$data" index -j 2 -o local.foil store/*.tar 2>>log
cp store/*.foil index

# The server has a port of its own, and can be stopped and started again.
port=$((20000 + $$ % 20000)) server=
serve_store() {
    python3 -m http.server -d store --bind 127.0.0.1 "$port" >>http.log 2>&1 &
    server=$!
    becomes_true curl -sfI -o /dev/null "http://127.0.0.1:$port/10.tar"
}
serve_store
for i in $(seq 10 29); do
    printf 'index/%s.tar.foil\thttp://127.0.0.1:%s/%s.tar\n' "$i" "$port" "$i"
done >names
tar_bytes=$(stat -c %s store/10.tar)
# gib N : N tars in GiB
gib() {
    awk "BEGIN { printf \"%.12f\", $1 * $tar_bytes / 2^30 }"
}
http=(--fetch 'curl -sf -o %o %u' --cache-dir cache --cache-size "$(gib 8.5)")

ok 'join has the places of the data' "$data" join -o set.foil - <names
ok 'list prints the same samples' cmp <("$data" list set.foil "${http[@]}") <("$data" list local.foil)
ok 'list fetches no file' test ! -e cache/.lock
ok 'cat fetches the file of a sample' \
    cmp <("$data" cat "${http[@]}" set.foil 30) <("$data" cat local.foil 30)
# has_files N : the cache has N files, and no parts
has_files() {
    local files=(cache/*.tar) parts=(cache/.part*)
    [[ ${#files[@]} -eq $1 && ! -e ${parts[0]} ]]
}
ok 'the cache has the file of that sample' has_files 1
ok 'embed reads all samples' "$BIN/foil-embed" --raw --size 16 -o far.npy "${http[@]}" set.foil
ok 'the cache has 8 files' has_files 8
ok 'each file was fetched once' test "$(grep -c '"GET' http.log)" -eq 20
"$BIN/foil-embed" --raw --size 16 -o near.npy local.foil
ok 'fetched files give the same features' cmp far.npy near.npy
ok 'a place cannot add a command' refuses 1 "cannot fetch '..touch evil. x', in 5 tries" \
    bash -c "printf 'index/10.tar.foil\t\$(touch evil) x\n' | '$data' join -o evil.foil - &&
        '$data' cat --fetch 'cp %u %o' --cache-dir cache --cache-size 1 evil.foil 3"
ok 'a command in a place was not run' test ! -e evil
ok 'a cache smaller than a shard exits with 1' refuses 1 'GiB, and a shard of .* has' \
    "$data" cat "${http[@]:0:5}" "$(gib .9)" set.foil 0
ok 'an index of its own exits with 1' refuses 1 'is no list of indexes' \
    "$data" cat "${http[@]}" index/10.tar.foil 0
ok '--fetch without a folder exits with 2' refuses 2 '--fetch needs --cache-dir DIR' \
    "$data" cat --fetch 'cp %u %o' set.foil 0
ok '--fetch without an output exits with 2' refuses 2 'must write the file %o' \
    "$data" cat --fetch 'cp %u x' "${http[@]:2}" set.foil 0
ok '--cache-dir without --fetch exits with 2' refuses 2 'belong to --fetch' \
    "$data" cat --cache-dir cache set.foil 0

# runs: local files, then fetched by two augmenters that share a cache of two windows
# fetched RUN OPTION... : run foil-train on set.foil with a selector and augmenters of
# the options in two_with
two_with=()
fetched() {
    local run=$1 feeders=() code=0 i
    mkdir -p "$run"
    for i in 1 2; do
        "$BIN/foil-augment" -r "$run" --size 16 "${two_with[@]}" set.foil 2>>"$run.augment$i" &
        feeders+=($!)
    done
    "$BIN/foil-select" -r "$run" -b 8 -e 3 --windows 4 set.foil 2>>"$run.select" &
    feeders+=($!)
    "$BIN/foil-train" -r "$run" --threads 1 --deadline "$deadline" "${train_with[@]}" \
        "${@:2}" || code=$?
    [[ $code -eq 0 ]] || kill "${feeders[@]}" 2>/dev/null
    wait "${feeders[@]}" 2>/dev/null
    return "$code"
}
augment_with=(--size 16) select_with=(-b 8 -e 3 --windows 4)
train_with=(--arch linear --head 16 --objective sogclr --checkpoint-every 10)
mkdir near
data=local.foil
ok 'a run on local files succeeds' trained near
rm -r cache
: >http.log
two_with=("${http[@]}")
ok 'a run on fetched files succeeds' fetched far
ok 'fetched files give the same checkpoint' diff -r near/latest/ far/latest/
files=(cache/*.tar)
ok 'the cache is not above its limit' holds "${#files[@]} <= 8"
ok 'a file is fetched once or twice an epoch by both augmenters' \
    holds "$(grep -c '"GET' http.log) <= 2 * 3 * 20"
two_with=("${http[@]:0:5}" "$(gib 7.5)")
mkdir small
"$BIN/foil-select" -r small --windows 4 set.foil 2>small.select &
selector=$!
ok 'a cache of less than two windows exits with 1' refuses 1 \
    'two windows of 4 shards have up to .* GiB, and --cache-size is' \
    timeout 60 "$BIN/foil-augment" -r small "${two_with[@]}" set.foil
kill_now "$selector"
ok '--bad-shards without --fetch exits with 2' refuses 2 '--bad-shards belongs to' \
    "$BIN/foil-augment" -r small --bad-shards 3 set.foil

# a server that is down: the run waits, and goes on
rm -r cache
kill_now "$server"
ok 'a server that is down is tried five times' refuses 1 \
    "cannot fetch 'http://.*/10.tar', in 5 tries: the command ended with code 7" \
    "$BIN/foil-data" cat "${http[@]}" set.foil 0
two_with=("${http[@]}")
fetched late 2>late.train &
trainer=$!
ok 'the selector prints that files cannot be fetched' \
    becomes_true grep -q "cannot fetch 'http://.*tar', in 5 tries" late.select
serve_store
ok 'the run continues when the server is up' wait "$trainer"
ok 'a run that waited has the same checkpoint' diff -r near/latest/ late/latest/
ok 'no sample is called bad' bash -c '! grep "could not be used" late.select'
kill_now "$server"
rm -r cache
two_with=("${http[@]}" --bad-shards 2)
deadline=8
ok 'a run whose augmenters end has no batches' exits 1 fetched bad
ok '--bad-shards 2 ended them' \
    has_line 'shards cannot be fetched, more than --bad-shards 2' bad.augment1
deadline=60

# a command that fails each third and truncates each fifth time, and kills
cat >bad-copy <<'END'
#!/bin/sh
n=$(od -An -N2 -tu2 /dev/urandom)
[ $((n % 3)) != 0 ] || exit 22
[ $((n % 5)) != 0 ] || { head -c 5000 "$1" >"$2"; exit; }
cp "$1" "$2"
END
chmod +x bad-copy
for i in $(seq 10 29); do
    printf 'index/%s.tar.foil\tstore/%s.tar\n' "$i" "$i"
done | "$BIN/foil-data" join -o set.foil - 2>>log

# begin STAGE : starts it in $run
begin() {
    case $1 in
    select) exec "$BIN/foil-select" -r "$run" -b 8 -e "$epochs" --windows 4 set.foil ;;
    train) exec "$BIN/foil-train" -r "$run" --threads 1 --deadline 120 --resume "${train_with[@]}" ;;
    *) exec "$BIN/foil-augment" -r "$run" --size 16 --fetch './bad-copy %u %o' \
        --cache-dir cache --cache-size "$(gib 8.5)" set.foil ;;
    esac >>"$run.$1" 2>&1 &
    pid[$1]=$!
}

# storm RUN KILLS : a run whose stages are killed and restarted; most_files is the
# largest number of files in the cache
most_files=0
storm() {
    local run=$1 left=$2 files stages=(train select augment1 augment2) stage code
    local -A pid
    mkdir "$run"
    for stage in "${stages[@]}"; do
        begin "$stage"
    done
    while :; do
        nap 0.03
        files=(cache/*.tar)
        [[ ${#files[@]} -le $most_files ]] || most_files=${#files[@]}
        for stage in "${stages[@]}"; do
            kill -0 "${pid[$stage]}" 2>/dev/null && continue
            code=0
            wait "${pid[$stage]}" || code=$?
            [[ $stage$code != train0 ]] || break 2
            [[ $code -eq 0 ]] || begin "$stage"
        done
        if [[ $left -gt 0 && $((RANDOM % 12)) -eq 0 ]]; then
            stage=${stages[RANDOM % 4]}
            kill_now "${pid[$stage]}"
            begin "$stage"
            left=$((left - 1))
        fi
    done
    kill "${pid[@]}" 2>/dev/null
    wait "${pid[@]}"
    [[ $left -eq 0 ]] || echo "$left kills were left"
}
epochs=$((${KILLS:-8} < 8 ? 6 : ${KILLS:-8} * 3 / 4))
select_with=(-b 8 -e "$epochs" --windows 4)
rm -rf cache
mkdir long
data=local.foil
ok 'a longer run on local files succeeds' trained long
ok 'a run with kills, failures and short files succeeds' storm stormy "${KILLS:-8}"
ok 'all kills were made' test ! -s out
for file in model head optim samples; do
    ok "the run with kills has the same $file" cmp {long,stormy}/latest/"$file".safetensors
done
ok 'the cache never had more than 8 files' holds "0 < $most_files && $most_files <= 8"
done_testing
