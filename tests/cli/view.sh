#!/usr/bin/env bash
# foil-view from the command line and by HTTP, with a live and a finished run: answers,
# refused requests, and slow pages.
# Not for sanitizers: other tests run the stages of pipelines.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
foil-data generate -o set.tar 40 2>/dev/null && foil-data index set.tar 2>/dev/null

# serve NAME OPTION... : starts foil-view; its address in $at, its port in $port
serve() {
    local name=$1
    foil-view --port 0 "${@:2}" >"$name.at" 2>"$name.err" &
    page=$!
    becomes_true test -s "$name.at" && at=$(<"$name.at")
    port=${at#*:*:} port=${port%%/*}
}
# request PATH [CURL-OPTION...] : fails unless it is answered with 200; the answer is in the
# file `answer`, the status in `code`
request() {
    curl -s --path-as-is -m 20 -o answer -w '%{http_code}' "${@:2}" "$at$1" >code
    cat code
    test "$(<code)" = 200
}
is_refused() {
    ! request "${@:2}" && test "$(<code)" = "$1" && cat answer
}

common foil-view
mkdir none # a run that has not started
ok 'no run is named: 2' refuses 2 'RUN is missing' foil-view
ok 'a run that is not there: 1' refuses 1 "there is no run 'nope'" foil-view -r nope
ok '--compare of a run that is not there: 1' refuses 1 "there is no run 'nope'" foil-view -r none --compare nope
eight=(--compare={none,none,none,none,none,none,none,none})
ok 'too many runs: 2' refuses 2 '7 runs at most' foil-view -r none "${eight[@]}"
ok 'no address: 1' refuses 1 "'nowhere' is no address" foil-view -r none --address nowhere
ok 'a token with a slash: 2' refuses 2 "'a/b'" foil-view -r none --token a/b

# ------------------------------------------------------------------ a live run
foil run simclr set.tar -r run --augmenters 1 --threads 1 --batch 8 --epochs 100000 \
    --arch linear --head 16-9 --size 16 --lr .01 --checkpoint-every 20 2>run.err &
training=$!
becomes_true test -s run/metrics.jsonl
ok 'its page is served' serve living -r run
ok 'on 127.0.0.1, with a random token' \
    grep -qx 'http://127.0.0.1:[0-9]*/[0-9a-f]\{32\}/' living.at
ok 'the page' request ''
ok 'is HTML' grep -qi '<!doctype html>' answer
for file in view.js view.css dygraph.js dygraph.css; do
    ok "the file $file" request "$file"
done

# events KIND... : reads events into the file `events` until there is one of each kind
events() {
    curl -sN -m "$patience" "${at}events" >events &
    local reader=$!
    becomes_true has_events "$@"
    kill "$reader"
}
has_events() {
    local kind
    for kind; do
        grep -q "^event: $kind" events || return
    done
}
ok 'events are streamed' events metrics status batch
for kind in metrics status batch; do
    ok "event $kind" grep -q "^event: $kind" events
done
# shellcheck disable=SC2016 # not this shell's
ok 'their ids have no gap' awk '/^id: / { if (n && $2 != n + 1) exit 1; n = $2 }
    END { exit !n }' events
ok 'all data' request all
ok 'is that of the run' jq -e '.run == "run" and .living and .size == 40 and
    .steps == 500000 and has("map") and (.batch | .known and (.ids | length) == 8 and
    .views == 2 and .pictures == 2 and (.labels | length) == 8)' answer
ok 'the curve is that of metrics.jsonl' /usr/bin/python3 "$here/../curve.py" answer \
    run/metrics.jsonl
read -r epoch step < <(jq -r '.batch | "\(.epoch) \(.step)"' answer)
cp answer all.json
ok 'its batch' request "batch?epoch=$epoch&step=$step"
ok 'is the same by itself' cmp <(jq -cS . answer) <(jq -cS .batch all.json)
ok 'an anchor' request "anchor?epoch=$epoch&step=$step&row=11"
ok 'has no draws without a sampler' jq -e '. == {drawn: null, trail: []}' answer
ok 'its embeddings' request "embeddings?epoch=$epoch&step=$step"
ok 'are 16 rows of unit length' /usr/bin/python3 -c 'import base64, json, struct
answer = json.load(open("answer"))
z = struct.unpack("<144f", base64.b64decode(answer["z"]))
assert all(abs(sum(x * x for x in z[9 * row:9 * row + 9]) - 1) < 1e-5 for row in range(16))'

# sized FILE SIZE : the file is a JPEG of SIZE, WIDTHxHEIGHT
sized() {
    foil-data index -o "$1.foil" "$1" 2>/dev/null &&
        foil-data list "$1.foil" | head -n 1
    file=$1 want=$2 /usr/bin/python3 -c 'import os, struct
data = open(os.environ["file"], "rb").read()
at = data.index(b"\xff\xc0")
print("%dx%d" % struct.unpack(">HH", data[at + 5:at + 9])[::-1])' | grep -qx "$2"
}
ok 'all views of the batch in one picture' request "sprite?epoch=$epoch&step=$step"
cp answer sprite.jpg
ok 'of 16 tiles in a row' sized sprite.jpg 256x16
ok 'three views by name' request 'view?v=1.0.0,2.0.1,39.7.0'
cp answer views.jpg
ok 'of three tiles' sized views.jpg 48x16
ok 'an image' request 'view?v=39'
foil-view --port 0 -r run >other.at 2>/dev/null &
other=$!

# ------------------------------------------------------------ refused requests
for path in nope ../set.tar 'view?v=40' 'view?v=99999999999999' \
    'anchor?epoch=99999999&step=0&row=0' "anchor?epoch=$epoch&step=$step&row=16" \
    'embeddings?epoch=99999999&step=0' 'embeddings?epoch=0' \
    "batch?epoch=$epoch&step=-1" 'view?v=40.0.0' frame; do
    ok "$path: 404" is_refused 404 "$path"
done
ok 'embeddings that are not cached are made' becomes_true request 'embeddings?epoch=0&step=0'
ok 'a batch that is not cached has anchors' request 'anchor?epoch=0&step=0&row=0'
# 404 would be an error in a browser's console
ok 'a frame of the map that does not exist: 204' is_refused 204 'frame?epoch=99999999'
many=$(printf '1.0.0,%.0s' {1..64})1.0.0
for path in view 'view?v=' 'view?v=1.2' 'view?v=1.2.3,' 'view?v=a.b.c' "view?v=$many" \
    'view?v=x' 'view?v=-1' 'view?v=99999999999999999999'; do
    ok "${path:0:40}: 400" is_refused 400 "$path"
done
ok 'another host name: 403' is_refused 403 all -H 'Host: evil.example'
ok 'another host name with the right port: 403' is_refused 403 all -H "Host: evil.example:$port"
ok 'no Host: 400' is_refused 400 all -H 'Host:'
ok 'a name that starts with an address: 403' is_refused 403 all -H "Host: 127.0.0.1.evil.example"
for host in localhost:1 '[::1]' "127.0.0.1:$port"; do
    ok "Host: $host" request all -H "Host: $host"
done
for method in POST PUT DELETE OPTIONS; do
    ok "$method: 405" is_refused 405 all -X "$method"
done
ok 'a posted body is ignored: 405' is_refused 405 all --data-binary @set.tar
# shellcheck disable=SC2016 # not this shell's
ok 'random bytes do no harm' eval 'head -c 20000 /dev/urandom | timeout 5 bash -c \
    "cat >/dev/tcp/127.0.0.1/$port" 2>/dev/null; request all'
# has_headers CODE PATH [CURL-OPTION...] : the answer has this status and all headers
has_headers() {
    ! request "${@:2}" -D headers || [[ $1 = 200 ]] || return
    for header in Cache-Control:.no-store X-Content-Type-Options Referrer-Policy \
        Cross-Origin-Resource-Policy:.same-origin Content-Security-Policy; do
        has_line "^$header" headers || { echo "no $header"; return 1; }
    done
    test "$(<code)" = "$1"
}
while read -r code path; do
    # shellcheck disable=SC2086 # a path and options
    ok "an answer of $code has the security headers" has_headers "$code" $path
done <<'END'
200 all
204 frame?epoch=99999999
400 view?v=x
403 all -H Host:evil.example
404 nope
405 all -X POST
END

# ------------------------------------------------------------------ slow pages
# twenty pages that never read
for _ in {1..20}; do
    bash -c "exec 3<>/dev/tcp/127.0.0.1/$port; printf 'GET /${at#*:*/}events HTTP/1.1\r\nHost: localhost\r\n\r\n' >&3; kill -STOP \$\$" &
done
cost=$(ps -o rss= -p "$page")
before=$(wc -l <run/metrics.jsonl)
ok 'twenty pages that do not read: training continues' becomes_true \
    has_steps run $((before + 100))
ok 'another page is answered' request all
ok 'memory is bounded' test "$(ps -o rss= -p "$page")" -lt "$((cost + 40000))"
# half N : opens N connections in this shell and sends half a request on each
half() {
    local fd
    halves=()
    while ((${#halves[@]} < $1)); do
        exec {fd}<>"/dev/tcp/127.0.0.1/$port" || return
        halves+=("$fd")
        printf 'GET /all HTTP/1.1\r\nHost: loc' >&"$fd" || return
    done
}
close_halves() {
    local fd
    for fd in "${halves[@]}"; do exec {fd}>&-; done
}
ok '300 half requests' half 300
ok 'do not block whole ones' request all
close_halves
ok '500 more' half 500
close_halves
ok 'do not block them after they are closed' request all
jobs -p | while read -r job; do
    [[ $(ps -o stat= -p "$job") != T* ]] || kill -KILL "$job"
done

# -------------------------------------------------------------- a finished run
kill -TERM "$page"
code=0
wait "$page" || code=$?
ok 'SIGTERM: 0' test "$code" -eq 0
kill -TERM "$training"
wait "$training"
ok 'foil-view continues after the end of the run' kill -0 "$other"
kill -TERM "$other"
wait "$other"
ok 'the page of a finished run is served' serve finished -r run
ok 'all data of it' request all
ok 'has its last batch' jq -e '.living == false and .steps == 500000 and
    (.batch.ids | length) == 8' answer
ok 'has its checkpoints' jq -e '.checkpoints | length > 0 and (map(.step) | . == sort) and
    all(.time > 1e9)' answer
ok 'has the stages as of its end' jq -e '.status |
    ."train 1".values.steps == 500000 and ."select 1".values.augmenters == 1 and
    any(.stage == "augment" and .values.made > 0)' answer
read -r epoch step < <(jq -r '.batch | "\(.epoch) \(.step)"' answer)
# too_long LINES : a header of LINES lines of 10 kB is answered with 431
too_long() {
    local i
    for ((i = 0; i < $1; i++)); do
        printf 'X-%d: %010000d\n' "$i" 0
    done >long
    ! request all -H @long && test "$(<code)" = 431 && test -s answer
}
ok 'a header of 30 kB is accepted' request all -H "X: $(printf '%030000d' 0)"
ok 'one of 40 kB: 431' too_long 4
ok 'one of 1 MB: 431' too_long 100
ok 'a step of it' request 'batch?epoch=1&step=2'
cp answer step.json
# shellcheck disable=SC2016 # not this shell's
ok 'is that of batches.i32' jq -e --argjson want "$(/usr/bin/python3 -c '
import json, struct
line = json.loads(open("run/batches.jsonl").readline())
row = open("run/batches.i32", "rb").read()[line["offset"] + 7 * 4 * line["width"]:]
print(list(struct.unpack("<%di" % (3 + line["images"]), row[:4 * (3 + line["images"])])))')" \
    '[8, .epoch, .step] == $want[:3] and .ids == $want[3:]' step.json
ok 'a step that does not exist: 404' is_refused 404 'batch?epoch=99999999&step=0'
ok 'its views' request "sprite?epoch=$epoch&step=$step"
ok 'its embeddings, by the newest checkpoint' \
    becomes_true request "embeddings?epoch=$epoch&step=$step"
ok 'its anchors' request "anchor?epoch=$epoch&step=$step&row=0"
ok 'it is exported' foil-view -r run --export finished.html
ok 'an exported finished run has its curves' grep -q '"metrics":{"total":\[1,' finished.html
ok 'an exported page refers to no other file' bash -c "! grep -E '(src|href)=\"(http|//|[a-z]+[.][a-z])' finished.html"
ok 'no folder for it: 1' refuses 1 'nowhere/finished.html' foil-view -r run \
    --export nowhere/finished.html
ok 'a token with --export: 2' refuses 2 'token belongs' foil-view -r run \
    --export finished.html --token x
ok 'the port is taken: 1' refuses 1 'cannot listen at 127.0.0.1' foil-view -r run \
    --port "$(sed 's/.*:\([0-9]*\).*/\1/' finished.at)"
kill -TERM "$page"
wait "$page"
mv set.tar.foil away.foil
mv set.tar away.tar
ok 'the page of a run without its data set is served' serve lost -r run
ok 'all data of it' request all
ok 'has curves and no batch' jq -e '.batch == null and (.metrics.total | length) > 10' answer
ok 'no map: 404' is_refused 404 map
ok 'no picture: 404' is_refused 404 'view?v=0'
ok 'it is exported' foil-view -r run --export lost.html
ok 'a run exported without its data set has its curves' grep -q '"metrics":{"total":\[1,' lost.html
kill -TERM "$page"
wait "$page"

# --------------------------------------------------------------------- a token
ok 'served for other machines' serve open -r run --address 0.0.0.0
token=${at%/} token=${token##*/}
ok 'the address has a random token' grep -qx "http://0.0.0.0:$port/[0-9a-f]\{32\}/" open.at
for host in 127.0.0.1 127.0.0.2 $(hostname -I); do
    at=http://$host:$port/$token/
    [[ $host = *:* ]] || ok "at $host" request all
done
at=http://127.0.0.1:$port/
last=$([[ $token = *0 ]] && echo 1 || echo 0)
for path in '' all view.js export "$token" "${token%?}/all" "${token}0/all" \
    "${token%?}$last/all" "all?token=$token" "/$token/all" "x/../$token/all"; do
    ok "/${path//"$token"/TOKEN}: 403" is_refused 403 "$path"
done
ok 'a token as a cookie: 403' is_refused 403 all -b "foil-token=$token"
ok 'an answer without the token does not contain it' eval "! curl -si '${at}all' | grep '$token'"
kill -TERM "$page"
wait "$page"
ok 'served with a token of the user' serve mine -r run --token mine_-1
ok 'a token of the user is the path' grep -qx "http://127.0.0.1:$port/mine_-1/" mine.at
ok 'it is answered' request all
kill -TERM "$page"
wait "$page"
ok 'served without a token' serve bare -r run --token ''
ok 'the path is empty' grep -qx "http://127.0.0.1:$port/" bare.at
ok 'it is answered' request all
kill -TERM "$page"
wait "$page"
done_testing
