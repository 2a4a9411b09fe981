# Sourced by tests/cli/*.sh: TAP, a scratch folder, nothing left running.
# BIN is the folder of the tools; shared, which need not be there, that of real
# images and of the reference's results.
# shellcheck shell=bash
set -u
BIN=${BIN:-build/release/bin}
BIN=$(cd "$BIN" && pwd)
# shellcheck disable=SC2034 # for the tests
shared=${FOIL_SHARED:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/../shared}
# the tools start themselves again where this is not set
export GOMP_SPINCOUNT=0
work=$(mktemp -d) count=0 failed=0
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

# what was printed last is open here: one link is made, and no file moved for each
# check, since that would take longer than most checks
ln -s "/proc/$$/fd/9" "$work/out"

# ok WHAT COMMAND... : the command succeeds; what it printed is in $work/out,
# where the next command may look at it
ok() {
    local what=$1 said=$work/out.$((count++ % 2))
    shift
    if "$@" >"$said" 2>&1; then
        echo "ok $count - $what"
    else
        failed=1
        echo "not ok $count - $what"
        sed 's/^/# /' "$said"
    fi
    exec 9<"$said"
}

# skip WHAT WHY : a check that cannot be made here
skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# exits CODE COMMAND... : the command ends with exactly that code
exits() {
    local want=$1 got=0
    shift
    "$@" || got=$?
    test "$got" -eq "$want" || { echo "exit code $got, want $want"; return 1; }
}

# holds EXPRESSION : of numbers, as awk understands it
holds() {
    echo "$1"
    awk "BEGIN { exit !($1) }"
}

# show FILE : its lines, without a process for it
show() {
    local shown
    mapfile -t shown <"$1"
    [[ ${#shown[@]} -eq 0 ]] || printf '%s\n' "${shown[@]}"
}

# has_line PATTERN FILE : the pattern, an extended one, is found in a line of it;
# without a process for it
has_line() {
    local line
    while IFS= read -r line || [[ $line ]]; do
        [[ ! $line =~ $1 ]] || return 0
    done <"$2"
    return 1
}

# refuses CODE PATTERN COMMAND... : that exit code, nothing on stdout, and a line
# on stderr that the pattern is found in
refuses() {
    local want=$1 pattern=$2 got=0
    shift 2
    "$@" >"$work/refuses.out" 2>"$work/refuses.err" || got=$?
    show "$work/refuses.err"
    test "$got" -eq "$want" || { echo "exit code $got, want $want"; return 1; }
    test ! -s "$work/refuses.out" || { echo 'stdout is not empty'; return 1; }
    has_line "$pattern" "$work/refuses.err" ||
        { echo "no '$pattern' on stderr"; return 1; }
}

# nap SECONDS : without a process for it
exec {nothing}<> <(:) # no byte ever comes, and no end
nap() {
    read -rt "$1" -u "$nothing" || true
}

# Seconds after which a check has failed, three tenths of the test's LIMIT: a limit
# for what hangs, and not for what a busy machine makes slow
export patience=$((${LIMIT:-600} * 3 / 10))

# becomes_true COMMAND... : the command succeeds before $patience is over
becomes_true() {
    local until=$((SECONDS + patience + 1))
    until "$@"; do
        [[ $SECONDS -lt $until ]] || return
        nap 0.02
    done
}

# pass_on COMMAND... : checks that another program makes and prints as TAP; that it
# came to its end is one, too.  Its line '# please WORD' calls `serve WORD`, the test's.
pass_on() {
    local line whole=false
    while read -r line; do
        case $line in
        'ok '*) ok "${line#* - }" true ;;
        'not ok '*) ok "${line#* - }" false ;;
        '# please '*) serve "${line#\# please }" ;;
        1..*) whole=true ;;
        *) echo "$line" ;;
        esac
    done < <("$@")
    ok 'all of it was seen' "$whole"
}

# waits_for FILE : the file gets its first byte within that time
waits_for() {
    becomes_true test -s "$1"
}

# endpoint N : by tcp, on a loopback address that no other test has
endpoint() {
    echo "tcp://127.$(($$ / 65536 + 1)).$(($$ / 256 % 256)).$(($$ % 256)):$((7000 + $1))"
}

# has_python MODULE... : Debian's Python has them; to import one takes much longer
has_python() {
    /usr/bin/python3 -c 'import sys
from importlib.util import find_spec
sys.exit(not all(find_spec(name) for name in sys.argv[1:]))' "$@"
}

# lists_options TOOL : its --list options has the words of --help all, and each verb
# lists what the tool lists for it
lists_options() {
    local all one help verb verbs words
    all=$("$1" --list options) || return
    mapfile -t verbs < <(jq -r '.[].verb // ""' <<<"$all" | uniq)
    for verb in "${verbs[@]}"; do
        one=$("$1" ${verb:+"$verb"} --list=options) || return
        jq -ne --arg verb "$verb" --argjson all "$all" --argjson one "$one" \
            '$one == ($all | map(select((.verb // "") == $verb) | del(.verb)))' || return
        words=$(jq -r 'def usual: .default | # + 0: as jq 1.6 prints 600.0
                if type == "number" then . + 0 else . end |
                select(type == "string" or type == "number") | "[\(.)]";
            def option: (if .short then "-\(.short)," else empty end),
                "--" + .name, .argument // empty, .sentence, usual;
            . as $all | map(select(.of or .common | not)) as $rows |
            [": " + .[0].sentence,
            (range(1; $rows | length) as $i | $rows[$i] |
                (select(.group != $rows[$i - 1].group) | .group // empty) + ":",
                option),
            ($rows[1:][].name as $of | [$all[] |
                select(.of // "" | split("|") | index($of))] | select(. != []) |
                "Parameters of --\($of):",
                (.[] | .name + (.argument | if . then "=" + . else "" end), .sentence,
                    usual)),
            ($all[] | select(.common) | option)] | join(" ") + " "' <<<"$one") || return
        help=$("$1" ${verb:+"$verb"} --help all | tr -s ' \n' ' ' |
            sed -E 's/, [-+0-9.e]+ \.\. [-+0-9.e]+//g')
        [[ $help == *"$words" ]] || { printf '%s\n' "$help" "$words"; return 1; }
    done
}

# common NAME OPERANDS... : what every tool does with its command line
common() {
    local tool=$BIN/$1
    shift
    ok '--help: to stdout, 0' "$tool" --help
    ok '--help starts with the usage' grep -q '^usage: foil' "$work/out"
    ok '--list options: the same as JSON' lists_options "$tool"
    ok 'no other --list without a table of it: 2' refuses 2 "--list 'no': want " \
        "$tool" --list no
    ok '--version: 0' "$tool" --version
    ok 'unknown option: 2' refuses 2 "no option '--nonsense'" \
        "$tool" --nonsense "$@"
    ok 'a full disk shows: 1' exits 1 bash -c "exec '$tool' --help >/dev/full"
}

done_testing() {
    echo "1..$count"
    exit "$failed"
}
