#!/usr/bin/env bash
# foil.py without stages: files, views, objectives.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=$(cd "${0%/*}/../python" && pwd)
export PATH=$BIN:$PATH PYTHONPATH=$here/../../pipelines/python
export PYTHONDONTWRITEBYTECODE=1

if ! has_python numpy; then
    skip 'foil.py' 'no python3-numpy'
    done_testing
fi
warm numpy

# checks NAME ARGUMENT... : reports each check of a program of tests/python
checks() {
    local line
    while read -r line; do
        case $line in
        ok*) ok "$1: ${line#* - }" true ;;
        'not ok'*) ok "$1: ${line#* - }" false ;;
        1..*) ended=yes ;;
        *) echo "$line" ;;
        esac
    done < <(timeout 300 "$python" "$here/test_$1.py" "${@:2}" 2>&1)
    ok "$1: the TAP output is complete" test "$ended" = yes
    ended=''
}

if [[ -e $BIN/../libfoil.so.1 ]]; then # the build for tests with sanitizers has none
    export LIBFOIL=$BIN/../libfoil.so.1
    mkdir "$work/files" "$work/objective"
    checks files "$work/files" "$here/../../tools"
    checks objective "$work/objective"
fi
ok 'foil.py imports torch only inside of functions' \
    exits 1 grep -nE '^(import|from) +torch' "$PYTHONPATH/foil.py"
# printed TEXT... : prints it by a command that imports foil.py
printed() {
    env FOIL_MEMORY=/dev/null "$python" - "$@" <<<'import sys, foil
print(*sys.argv[1:])'
}
ok 'a command with foil.py prints to standard error' refuses 0 fine printed fine
ok 'a command that prints an answer by itself exits with 1' refuses 1 \
    "'ok' is printed as an answer" printed ok dim=3
# a child's answer goes to standard error, too
"$python" - "$work/u.npy" <<<'import sys, numpy; numpy.save(sys.argv[1], numpy.eye(8))'
child='import foil, subprocess; input(); subprocess.run(["echo", "ok"])'
ok 'a message says that an answer came on standard error' refuses 1 \
    "its 'ok' or 'error' came on standard error" foil-select --score -b 4 \
    --strategy-command "/usr/bin/python3 -c '$child'" "$work/u.npy"
# the examples have at most 40 lines of at most 88 columns
short() {
    local bad
    bad=$(find "$PYTHONPATH" -name '*.py' ! -name 'foil*.py' -exec awk '
        FNR > 40 || length > 88 { print FILENAME ":" FNR }' {} +)
    [[ -z $bad ]] || { echo "$bad"; return 1; }
}
ok 'examples have at most 40 lines of at most 88 columns' short
done_testing
