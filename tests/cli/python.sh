#!/usr/bin/env bash
# foil.py, the library for stages in Python, by itself: its machines, messages
# and files.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
here=$(cd "${0%/*}/../python" && pwd)
export PATH=$BIN:$PATH PYTHONPATH=$here/../../pipelines/python
export PYTHONDONTWRITEBYTECODE=1

if ! has_python zmq msgpack numpy; then
    skip 'foil.py' 'no python3-zmq, python3-msgpack, python3-numpy'
    done_testing
fi
warm zmq msgpack numpy

# checks NAME ARGUMENT... : a program of tests/python, check by check
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
    ok "$1: all of it was run" test "$ended" = yes
    ended=''
}

checks machines
checks simulation
checks services
checks stages
mkdir "$work/files"
checks files "$work/files" "$here/../../tools"
ok 'foil.py never imports torch' \
    exits 1 grep -nE '^ *(import|from) +torch' "$PYTHONPATH/foil.py"
# no example has more than 40 lines, or a line of more than 88 columns
short() {
    local bad
    bad=$(find "$PYTHONPATH" -name '*.py' ! -name foil.py -exec awk '
        FNR > 40 || length > 88 { print FILENAME ":" FNR }' {} +)
    [[ -z $bad ]] || { echo "$bad"; return 1; }
}
ok 'examples have at most 40 lines of at most 88 columns' short
done_testing
