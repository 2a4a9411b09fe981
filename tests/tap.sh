# Sourced by tests/cli/*.sh: prints TAP, makes a scratch folder, stops background jobs
# at the end.  BIN is the folder of the tools; shared is the folder of real images and
# of the reference's results, which may not exist.
# shellcheck shell=bash
set -u
BIN=${BIN:-build/release/bin}
BIN=$(cd "$BIN" && pwd)
# shellcheck disable=SC2034 # for the tests
shared=${FOIL_SHARED:-$(cd "${BASH_SOURCE[0]%/*}/.." && pwd)/../shared}
# without this, the tools set it and execute themselves again
export GOMP_SPINCOUNT=0
work=$(mktemp -d) count=0 failed=0
trap 'kill $(jobs -p) 2>/dev/null; wait; rm -rf "$work"' EXIT

# The output of the last check is open as descriptor 9.  One link to it is enough;
# moving a file for each check would take longer than most checks.
ln -s "/proc/$$/fd/9" "$work/out"

# ok WHAT COMMAND... : a check; the command succeeds.  Its output is in $work/out for
# the next command.
ok() {
    local what=$1 output=$work/out.$((count++ % 2))
    shift
    if "$@" >"$output" 2>&1; then
        echo "ok $count - $what"
    else
        failed=1
        echo "not ok $count - $what"
        sed 's/^/# /' "$output"
    fi
    exec 9<"$output"
}

# skip WHAT WHY : a check that is not possible here
skip() {
    count=$((count + 1))
    echo "ok $count - $1 # SKIP $2"
}

# exits CODE COMMAND... : the command ends with exactly that exit code
exits() {
    local want=$1 got=0
    shift
    "$@" || got=$?
    test "$got" -eq "$want" || { echo "exit code $got, want $want"; return 1; }
}

# holds EXPRESSION : a comparison of numbers in awk's syntax is true
holds() {
    echo "$1"
    awk "BEGIN { exit !($1) }"
}

# show FILE : prints it without starting a process
show() {
    local shown
    mapfile -t shown <"$1"
    [[ ${#shown[@]} -eq 0 ]] || printf '%s\n' "${shown[@]}"
}

# has_line PATTERN FILE : a line matches the extended regular expression; starts no
# process
has_line() {
    local line
    while IFS= read -r line || [[ $line ]]; do
        [[ ! $line =~ $1 ]] || return 0
    done <"$2"
    return 1
}

# refuses CODE PATTERN COMMAND... : the command ends with that exit code, prints
# nothing on stdout, and a line on stderr matches PATTERN
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

# nap SECONDS : sleep without starting a process
exec {nothing}<> <(:) # never readable
nap() {
    read -rt "$1" -u "$nothing" || true
}

# Seconds until a check fails: three tenths of the test's LIMIT, so that only a hang
# reaches it, and no slow machine
export patience=$((${LIMIT:-600} * 3 / 10))

# becomes_true COMMAND... : the command succeeds within $patience seconds
becomes_true() {
    local until=$((SECONDS + patience + 1))
    until "$@"; do
        [[ $SECONDS -lt $until ]] || return
        nap 0.02
    done
}

# pass_on COMMAND... : reports the checks that another program prints as TAP, and that
# its output is complete.  For its line '# please WORD' it calls `serve WORD`, which the
# test defines.
pass_on() {
    local line complete=false
    while read -r line; do
        case $line in
        'ok '*) ok "${line#* - }" true ;;
        'not ok '*) ok "${line#* - }" false ;;
        '# please '*) serve "${line#\# please }" ;;
        1..*) complete=true ;;
        *) echo "$line" ;;
        esac
    done < <("$@")
    ok 'the TAP output of the test program is complete' "$complete"
}

# waits_for FILE : the file is not empty within $patience seconds
waits_for() {
    becomes_true test -s "$1"
}

# endpoint N : prints a tcp endpoint on a loopback address that no other test uses
endpoint() {
    echo "tcp://127.$(($$ / 65536 + 1)).$(($$ / 256 % 256)).$(($$ % 256)):$((7000 + $1))"
}

# has_python MODULE... : Debian's Python has these modules.  Does not import them,
# which takes much longer.
has_python() {
    /usr/bin/python3 -c 'import sys
from importlib.util import find_spec
sys.exit(not all(find_spec(name) for name in sys.argv[1:]))' "$@"
}

# lists_options TOOL : --list options has the same text as --help all, for the tool and
# for each of its verbs
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

# common NAME OPERANDS... : checks of options that all tools share
common() {
    local tool=$BIN/$1
    shift
    ok '--help prints to stdout and exits with 0' "$tool" --help
    ok '--help starts with the usage line' grep -q '^usage: foil' "$work/out"
    ok '--list options prints the content of --help all as JSON' lists_options "$tool"
    ok '--list with an unknown table exits with 2' refuses 2 "--list 'no': want " \
        "$tool" --list no
    ok '--version exits with 0' "$tool" --version
    ok 'an unknown option exits with 2' refuses 2 "no option '--nonsense'" \
        "$tool" --nonsense "$@"
    ok '--help to a full disk exits with 1' \
        exits 1 bash -c "exec '$tool' --help >/dev/full"
}

done_testing() {
    echo "1..$count"
    exit "$failed"
}
