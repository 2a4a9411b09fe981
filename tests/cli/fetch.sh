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
ok 'and fetches none' test ! -e cache/.lock
ok 'cat fetches the file of a sample' \
    cmp <("$data" cat "${http[@]}" set.foil 30) <("$data" cat local.foil 30)
# has_files N : the cache has N files, and no parts
has_files() {
    local files=(cache/*.tar) parts=(cache/.part*)
    [[ ${#files[@]} -eq $1 && ! -e ${parts[0]} ]]
}
ok 'one file' has_files 1
ok 'embed reads all' "$BIN/foil-embed" --raw --size 16 -o far.npy "${http[@]}" set.foil
ok 'the cache has 8 files' has_files 8
ok 'each was fetched once' test "$(grep -c '"GET' http.log)" -eq 20
"$BIN/foil-embed" --raw --size 16 -o near.npy local.foil
ok 'to the same features' cmp far.npy near.npy
ok 'a place cannot add a command' refuses 1 "cannot fetch '..touch evil. x', in 5 tries" \
    bash -c "printf 'index/10.tar.foil\t\$(touch evil) x\n' | '$data' join -o evil.foil - &&
        '$data' cat --fetch 'cp %u %o' --cache-dir cache --cache-size 1 evil.foil 3"
ok 'it was not run' test ! -e evil
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
kill_now "$server"
ok 'a server that is down is tried five times' refuses 1 \
    "cannot fetch 'http://.*/10.tar', in 5 tries: the command ended with code 7" \
    "$data" cat "${http[@]}" set.foil 0
done_testing
