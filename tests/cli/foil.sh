#!/usr/bin/env bash
# The dispatcher, with test commands and pipelines next to a copy of it.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

common foil

mkdir -p "$work/bin" "$work/share/foil/pipelines/studies"
cp "$BIN/foil" "$work/bin"
foil=$work/bin/foil

# program PATH LINE... : makes an executable bash script of these lines
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

# prints WANT COMMAND... : the command prints exactly this text on stdout
prints() {
    local want=$1 got
    shift
    got=$("$@") || return
    test "$got" = "$want" || { echo "got '$got'"; return 1; }
}

ok 'a command gets its arguments unchanged' \
    prints '<--lr><a b><>' "$foil" echo --lr 'a b' ''
ok 'an option after a command belongs to the command' \
    prints '<--help>' "$foil" echo --help
ok 'foil exits with the exit code of the command' exits 3 "$foil" three
program "$work/bin/foil-python" "echo \"\$PYTHONPATH\""
ours=$work/bin/../share/foil/pipelines/python
ok 'a command finds foil.py' prints "$ours" env -u PYTHONPATH "$foil" python
ok "foil.py comes after the user's own folders in PYTHONPATH" \
    prints "/a:/b:$ours" env PYTHONPATH=/a:/b "$foil" python
ok 'PYTHONPATH has the folder of foil.py once' \
    prints "/a:$ours" env PYTHONPATH="/a:$ours" "$foil" python
ok 'a pipeline finds the tools' prints '<DATA><-r>' "$foil" run try DATA -r
ok 'foil without arguments exits with 0' "$foil"
ok 'foil lists the stages' grep -q '^  augment  *turn plan items' "$work/out"
"$foil" >"$work/list"
ok 'foil lists the pipelines with their second line' \
    grep -q '^  try  *Try the dispatcher\.$' "$work/list"
ok 'foil lists a study with its folder' \
    grep -q '^  studies/far  *Try a study\.$' "$work/list"
ok 'foil run runs a study by its listed name' "$foil" run studies/far
ok 'foil does not list the library of pipelines' \
    exits 1 grep -q 'Not a pipeline' "$work/list"
ok 'foil to a full disk exits with 1' exits 1 bash -c "exec '$foil' >/dev/full"

# longest COLUMNS TOOL ... : prints the longest line of its help on such a terminal
terminal=$(cd "${0%/*}" && pwd)/terminal.py
longest() {
    /usr/bin/python3 "$terminal" "$1" 24 -- "${@:2}" --help >"$work/screen" ||
        return
    awk '{ sub(/\r$/, ""); n = length > n ? length : n } END { print n }' \
        "$work/screen"
}
for columns in 60 80 132; do
    ok "help of foil-augment fits into $columns columns" holds \
        "$(longest "$columns" "$BIN/foil-augment") <= $columns"
    ok "help of a tool with verbs fits into $columns columns" holds \
        "$(longest "$columns" "$BIN/foil-data") <= $columns"
    ok "help of a verb fits into $columns columns" holds \
        "$(longest "$columns" "$BIN/foil-eval" knn) <= $columns"
    ok "help with a long list of words fits into $columns columns" holds \
        "$(longest "$columns" "$BIN/foil-train") <= $columns"
done
ok 'the list of commands and pipelines fits into 60 columns' holds \
    "$(/usr/bin/python3 "$terminal" 60 24 -- "$foil" |
    tr -d '\r' | wc -L) <= 60"
ok 'help uses the width of a wide terminal' \
    holds "$(longest 120 "$BIN/foil-augment") > 100"
ok 'help has 60 columns on a narrow terminal' \
    holds "$(longest 30 "$BIN/foil-augment") <= 60"
ok 'help has at most 200 columns' holds "$(longest 999 "$BIN/foil-augment") <= 200"
ok 'help without a terminal does not wrap lists of words' bash -c \
    "'$BIN/foil-train' --help |
        grep -q -- '^  --arch resnet18|.*|vit:WxLxP\[xH\]|program$'"
ok 'help of foil-train has at most 100 lines' holds \
    "$("$BIN/foil-train" --help | wc -l) <= 100"
ok '--help objective and --help all print further options' bash -c \
    "'$BIN/foil-train' --help objective | grep -q '^  beta-u=X' &&
        '$BIN/foil-train' --help all | grep -q '^  burn-in=N'"
ok 'help without a terminal has 80 columns' \
    test "$("$BIN/foil-augment" --help | wc -L)" -le 80

ok 'an unknown command exits with 2 and a suggestion' \
    refuses 2 "no command 'trian': did you mean 'train'\?" \
    "$foil" trian
ok 'an unknown command without a similar one exits with 2' \
    refuses 2 "no command 'cook': 'foil' lists them" \
    "$foil" cook
ok 'an unknown pipeline exits with 2 and a suggestion' \
    refuses 2 "no pipeline 'tyr': did you mean 'try'\?" \
    "$foil" run tyr
ok 'foil run --resume RUN without -r exits with 2' refuses 2 \
    "needs its run by -r: 'foil run --resume -r run/x'" "$foil" run --resume run/x
ok 'foil run --version exits with 0' "$BIN/foil" run --version
ok 'foil run --version prints the version of foil' \
    grep -qE '^foil \(foil\) [0-9]' "$work/out"
touch "$work/mine"
ok 'a list of stages without its path exits with 2' refuses 2 "'foil run ./mine'" \
    bash -c "cd '$work' && '$foil' run mine"
mkdir -p "$work/share/man/man1" "$work/share/man/man5"
touch "$work/share/man/man1/foil-echo.1" "$work/share/man/man5/foil-wire.5"
# shellcheck disable=SC2016 # of the script
program "$work/bin/man" 'printf "<%s>" "${@##*/}"'
ok 'foil help COMMAND opens the man page of the command' prints '<-l><foil-echo.1>' \
    "$foil" help echo
touch "$work/share/man/man1/foil-echo-loud.1"
ok 'foil help COMMAND VERB opens the man page of the verb' \
    prints '<-l><foil-echo-loud.1>' "$foil" help echo loud
ok 'foil help COMMAND VERB opens that of the command if the verb has none' \
    prints '<-l><foil-echo.1>' "$foil" help echo softly
ok 'foil help FORMAT opens the man page of the format' \
    prints '<-l><foil-wire.5>' "$foil" help wire
touch "$work/share/man/man1/foil-tap.1.gz"
ok 'foil help opens a compressed man page' prints '<-l><foil-tap.1.gz>' "$foil" help tap
touch "$work/share/man/man1/foil.1"
ok 'foil help help opens the man page of foil' prints '<-l><foil.1>' "$foil" help help
ok 'foil help without man exits with 1 and names man-db' \
    refuses 1 "'apt-get install man-db'" \
    env PATH=/none "$BIN/foil" help help
ok 'foil help without the man page exits with 1' \
    refuses 1 "'foil train --help' has the options" \
    "$foil" help train
ok 'foil help of an unknown topic exits with 2' \
    refuses 2 "no page about 'trian': did you mean 'train'\?" \
    "$foil" help trian
ok '-h is --help' bash -c "'$foil' -h | grep '^usage: foil'"
ok 'a path as a command exits with 2' refuses 2 "no command 'x/../echo'" \
    "$foil" x/../echo
ok 'foil run without a pipeline exits with 2' \
    refuses 2 'run needs the name of a pipeline' \
    "$foil" run
ok 'foil run without a pipeline lists the pipelines' \
    grep -q '^  try  *Try the dispatcher\.$' "$work/out"
ok 'foil run --help lists the pipelines' bash -c "'$foil' run --help | grep '^  try '"
ok 'a name that is wider than its column has its own line' bash -c \
    "'$foil' run -h | grep -A 1 '^  studies/as-long-as-that-one\$' | grep '^   *Long'"
ok 'foil help PIPELINE shows its options' prints '<--help>' "$foil" help try
ok 'an unknown pipeline exits with 2' refuses 2 "no pipeline 'nonsense'" \
    "$foil" run nonsense
ok 'the library of pipelines is not a pipeline' refuses 2 "no pipeline 'lib'" \
    "$foil" run lib
mkdir "$work/run"
ok 'the library of studies is not a pipeline' refuses 2 "no pipeline 'studies/lib'" \
    "$foil" run studies/lib
ok 'the folder of studies is not a pipeline' refuses 2 "no pipeline 'studies/'" \
    "$foil" run studies/
ok '--resume of a run without a pipeline exits with 1' \
    refuses 1 "is no run of 'foil run': it has no 'command'" \
    "$foil" run --resume -r "$work/run"
ok '--resume of a missing run exits with 1' refuses 1 "there is no run 'nix'" \
    "$foil" run --resume -r nix
echo 'pipeline try' >"$work/run/command"
for run_option in "-r $work/run" "--run $work/run" "--run=$work/run"; do
    # shellcheck disable=SC2086 # words
    ok "--resume runs the pipeline of the run, by '$run_option'" \
        "$foil" run --resume $run_option --seed 3
    ok "--resume passes all arguments on, by '$run_option'" \
        test "$(cat "$work/out")" = "<--resume><${run_option/ /><}><--seed><3>"
done
ok 'foil run of a run without --resume exits with 2' \
    refuses 2 'needs the name of a pipeline' \
    "$foil" run -r "$work/run"
echo 'pipeline ../try' >"$work/run/command"
ok 'a path as the pipeline of a run exits with 2' refuses 2 "no pipeline '\.\./try'" \
    "$foil" run --resume -r "$work/run"
program "$work/bin/foil-run" 'printf "<%s>" "$@"'
for list in ./try ../try /try; do
    ok "foil-run gets the path of a list: $list" \
        prints "<$list><-r><a b>" "$foil" run "$list" -r 'a b'
done

# a user's pipeline: a script in any folder
mkdir "$work/own"
# shellcheck disable=SC2016 # of the script
program "$work/own/mine" 'printf "<%s>" "$(basename "$FOIL_PIPELINES")" "$@"'
cd "$work/own" || exit
ok 'foil run runs the script of a path and sets FOIL_PIPELINES' \
    prints '<pipelines><DATA><-r><a b>' "$foil" run ./mine DATA -r 'a b'
echo "pipeline $work/own/mine" >"$work/run/command"
ok '--resume runs the script by its path' prints \
    "<pipelines><--resume><-r><$work/run>" "$foil" run --resume -r "$work/run"
ok 'foil run of a script by its name exits with 2' refuses 2 "'foil run ./mine'" \
    "$foil" run mine
ok 'foil help of a script shows its options' prints '<pipelines><--help>' \
    "$foil" help ./mine
ok 'foil help of a list runs foil-run --help' prints '<./list><--help>' \
    bash -c "touch list && '$foil' help ./list"
ok 'foil help of a missing path exits with 1' refuses 1 "no pipeline './nothing'" \
    "$foil" help ./nothing
chmod a-x mine
ok 'a script that is not executable exits with 1' \
    refuses 1 "'chmod \+x ./mine' allows it" \
    "$foil" run ./mine
mv mine gone
ok '--resume of a script that was deleted exits with 1' \
    refuses 1 "pipeline, '$work/own/mine', does not exist any more" \
    "$foil" run --resume -r "$work/run"
ok 'a path inside the pipelines exits with 2' refuses 2 "no pipeline 'a/\.\./try'" \
    "$foil" run a/../try
done_testing
