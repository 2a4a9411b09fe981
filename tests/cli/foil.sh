#!/usr/bin/env bash
# The dispatcher, with commands and pipelines of our own beside a copy of it.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

common foil

mkdir -p "$work/bin" "$work/share/foil/pipelines/studies"
cp "$BIN/foil" "$work/bin"
foil=$work/bin/foil

# program PATH LINE... : an executable bash script of these lines
program() {
    local path=$1
    shift
    { echo '#!/usr/bin/env bash'; printf '%s\n' "$@"; } >"$path"
    chmod 755 "$path"
}

program "$work/bin/foil-echo" 'printf "<%s>" "$@"'
program "$work/bin/foil-three" 'exit 3'
program "$work/share/foil/pipelines/studies/far" '# Try a study.'
program "$work/share/foil/pipelines/studies/as-long-as-that-one" '# Long.'
program "$work/share/foil/pipelines/try" '# Try the dispatcher.' \
    'foil-echo "$@"'

# prints WANT COMMAND... : exactly this text on stdout
prints() {
    local want=$1 got
    shift
    got=$("$@") || return
    test "$got" = "$want" || { echo "got '$got'"; return 1; }
}

ok 'a command gets its arguments as they are' \
    prints '<--lr><a b><>' "$foil" echo --lr 'a b' ''
ok 'an option behind a command is the command'\''s' \
    prints '<--help>' "$foil" echo --help
ok 'the exit code is the command'\''s' exits 3 "$foil" three
program "$work/bin/foil-python" "echo \"\$PYTHONPATH\""
ours=$work/bin/../share/foil/pipelines/python
ok 'a command finds foil.py' prints "$ours" env -u PYTHONPATH "$foil" python
ok "behind the user's own folders" prints "/a:/b:$ours" env PYTHONPATH=/a:/b "$foil" python
ok 'once' prints "/a:$ours" env PYTHONPATH="/a:$ours" "$foil" python
ok 'a pipeline finds the tools' prints '<DATA><-r>' "$foil" run try DATA -r
ok 'alone it lists' "$foil"
ok 'the stages' grep -q '^  augment  *turn plan items' "$work/out"
"$foil" >"$work/list"
ok 'and the pipelines by their second line' \
    grep -q '^  try  *Try the dispatcher\.$' "$work/list"
ok 'a study is one, by the name of its folder' \
    grep -q '^  studies/far  *Try a study\.$' "$work/list"
ok 'and is run by it' "$foil" run studies/far
ok 'but not their library' exits 1 grep -q 'Not a pipeline' "$work/list"
ok 'a full disk shows: 1' exits 1 bash -c "exec '$foil' >/dev/full"

# longest COLUMNS TOOL ... : the longest line of its help on such a terminal
terminal=$(cd "${0%/*}" && pwd)/terminal.py
longest() {
    /usr/bin/python3 "$terminal" "$1" 24 -- "${@:2}" --help >"$work/screen" ||
        return
    awk '{ sub(/\r$/, ""); n = length > n ? length : n } END { print n }' \
        "$work/screen"
}
for columns in 60 80 132; do
    ok "help fits a terminal of $columns columns" holds \
        "$(longest "$columns" "$BIN/foil-augment") <= $columns"
    ok 'so does that of a tool with verbs' holds \
        "$(longest "$columns" "$BIN/foil-data") <= $columns"
    ok 'and of a verb' holds \
        "$(longest "$columns" "$BIN/foil-eval" knn) <= $columns"
    ok 'and one with a long list of words' holds \
        "$(longest "$columns" "$BIN/foil-train") <= $columns"
done
ok 'a list of commands and pipelines fits one of 60' holds \
    "$(/usr/bin/python3 "$terminal" 60 24 -- "$foil" |
    tr -d '\r' | wc -L) <= 60"
ok 'and takes its width' holds "$(longest 120 "$BIN/foil-augment") > 100"
ok 'of 60 columns at least' holds "$(longest 30 "$BIN/foil-augment") <= 60"
ok 'and 200 at most' holds "$(longest 999 "$BIN/foil-augment") <= 200"
ok 'lists of words are whole where there is no terminal' bash -c \
    "'$BIN/foil-train' --help |
        grep -q -- '^  --arch resnet18|.*|vit:WxLxP\[xH\]|program$'"
ok 'help with very many options fits two screens' holds \
    "$("$BIN/foil-train" --help | wc -l) <= 100"
ok 'and tells of all that are asked for' bash -c \
    "'$BIN/foil-train' --help objective | grep -q '^  beta-u=X' &&
        '$BIN/foil-train' --help all | grep -q '^  burn-in=N'"
ok 'elsewhere it has 80' test "$("$BIN/foil-augment" --help | wc -L)" -le 80

ok 'no such command: 2' refuses 2 "no command 'trian': did you mean 'train'\?" \
    "$foil" trian
ok 'what is like none: 2' refuses 2 "no command 'cook': 'foil' lists them" \
    "$foil" cook
ok 'a pipeline misspelt: 2' refuses 2 "no pipeline 'tyr': did you mean 'try'\?" \
    "$foil" run tyr
ok 'a run to be resumed without its -r: 2' refuses 2 \
    "wants its run by -r: 'foil run --resume -r run/x'" "$foil" run --resume run/x
ok 'foil run --version, too' "$BIN/foil" run --version
ok 'is that of foil' grep -qE '^foil \(foil\) [0-9]' "$work/out"
touch "$work/mine"
ok 'a list without its path: 2' refuses 2 "'foil run ./mine'" \
    bash -c "cd '$work' && '$foil' run mine"
mkdir -p "$work/share/man/man1" "$work/share/man/man5"
touch "$work/share/man/man1/foil-echo.1" "$work/share/man/man5/foil-wire.5"
# shellcheck disable=SC2016 # of the script
program "$work/bin/man" 'printf "<%s>" "${@##*/}"'
ok 'help has man show the page of a command' prints '<-l><foil-echo.1>' \
    "$foil" help echo
touch "$work/share/man/man1/foil-echo-loud.1"
ok 'or of its verb' prints '<-l><foil-echo-loud.1>' "$foil" help echo loud
ok 'of a verb without a page that of the command' prints '<-l><foil-echo.1>' \
    "$foil" help echo softly
ok 'or of a format' prints '<-l><foil-wire.5>' "$foil" help wire
touch "$work/share/man/man1/foil-tap.1.gz"
ok 'also one that is compressed' prints '<-l><foil-tap.1.gz>' "$foil" help tap
touch "$work/share/man/man1/foil.1"
ok 'help itself is a topic' prints '<-l><foil.1>' "$foil" help help
ok 'without man it says how to get one: 1' refuses 1 "'apt-get install man-db'" \
    env PATH=/none "$BIN/foil" help help
ok 'a system without any manual: 1' refuses 1 "'foil train --help' has the options" \
    "$foil" help train
ok 'no such page: 2' refuses 2 "no page about 'trian': did you mean 'train'\?" \
    "$foil" help trian
ok '-h is --help' bash -c "'$foil' -h | grep '^usage: foil'"
ok 'no path as a command: 2' refuses 2 "no command 'x/../echo'" \
    "$foil" x/../echo
ok 'no pipeline named: 2' refuses 2 'run wants the name of a pipeline' \
    "$foil" run
ok 'and they are listed' grep -q '^  try  *Try the dispatcher\.$' "$work/out"
ok 'as by run --help' bash -c "'$foil' run --help | grep '^  try '"
ok 'a name that is too long for its column has a line' bash -c \
    "'$foil' run -h | grep -A 1 '^  studies/as-long-as-that-one\$' | grep '^   *Long'"
ok 'help has a pipeline show its options' prints '<--help>' "$foil" help try
ok 'no such pipeline: 2' refuses 2 "no pipeline 'nonsense'" \
    "$foil" run nonsense
ok 'the library is no pipeline: 2' refuses 2 "no pipeline 'lib'" \
    "$foil" run lib
mkdir "$work/run"
ok 'nor is that of the studies: 2' refuses 2 "no pipeline 'studies/lib'" \
    "$foil" run studies/lib
ok 'nor their folder: 2' refuses 2 "no pipeline 'studies/'" \
    "$foil" run studies/
ok 'a run that remembers no pipeline: 1' refuses 1 "is no run of 'foil run': it has no 'command'" \
    "$foil" run --resume -r "$work/run"
ok 'a run that is not there: 1' refuses 1 "there is no run 'nix'" \
    "$foil" run --resume -r nix
echo 'pipeline try' >"$work/run/command"
for said in "-r $work/run" "--run $work/run" "--run=$work/run"; do
    # shellcheck disable=SC2086 # words
    ok "the pipeline that a run remembers, by '$said'" \
        "$foil" run --resume $said --seed 3
    ok 'with all arguments' \
        test "$(cat "$work/out")" = "<--resume><${said/ /><}><--seed><3>"
done
ok 'to be resumed alone: 2' refuses 2 'wants the name of a pipeline' \
    "$foil" run -r "$work/run"
echo 'pipeline ../try' >"$work/run/command"
ok 'no path as the pipeline of a run: 2' refuses 2 "no pipeline '\.\./try'" \
    "$foil" run --resume -r "$work/run"
program "$work/bin/foil-run" 'printf "<%s>" "$@"'
for list in ./try ../try /try; do
    ok "the path of a list goes to foil-run: $list" \
        prints "<$list><-r><a b>" "$foil" run "$list" -r 'a b'
done

# a pipeline of the user's own: a script, wherever it is
mkdir "$work/own"
# shellcheck disable=SC2016 # of the script
program "$work/own/mine" 'printf "<%s>" "$(basename "$FOIL_PIPELINES")" "$@"'
cd "$work/own" || exit
ok 'the path of a script runs it, and it is told where the pipelines are' \
    prints '<pipelines><DATA><-r><a b>' "$foil" run ./mine DATA -r 'a b'
echo "pipeline $work/own/mine" >"$work/run/command"
ok 'a run remembers it by its path' prints \
    "<pipelines><--resume><-r><$work/run>" "$foil" run --resume -r "$work/run"
ok 'its name alone is not enough: 2' refuses 2 "'foil run ./mine'" \
    "$foil" run mine
ok 'help has it show its options' prints '<pipelines><--help>' \
    "$foil" help ./mine
ok 'and foil-run those of a list' prints '<./list><--help>' \
    bash -c "touch list && '$foil' help ./list"
ok 'a path where nothing is: 1' refuses 1 "no pipeline './nothing'" \
    "$foil" help ./nothing
chmod a-x mine
ok 'one that may not be run: 1' refuses 1 "'chmod \+x ./mine' allows it" \
    "$foil" run ./mine
mv mine gone
ok 'one that has gone: 1' refuses 1 "pipeline, '$work/own/mine', does not exist any more" \
    "$foil" run --resume -r "$work/run"
ok 'no other path as a pipeline: 2' refuses 2 "no pipeline 'a/\.\./try'" \
    "$foil" run a/../try
done_testing
