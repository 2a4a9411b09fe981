#!/usr/bin/env bash
# foil.py, the library for stages in Python, by itself: its machines, messages
# and files.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
here=$(cd "${0%/*}/../python" && pwd)
python=/usr/bin/python3
export PATH=$BIN:$PATH PYTHONPATH=$here/../../pipelines/python
export PYTHONDONTWRITEBYTECODE=1

if ! has_python zmq msgpack numpy; then
    skip 'foil.py' 'no python3-zmq, python3-msgpack, python3-numpy'
    done_testing
fi

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
    done < <(timeout 300 $python "$here/test_$1.py" "${@:2}" 2>&1)
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
ok 'no example has more than 40 lines' test "$(cd "$PYTHONPATH" &&
    wc -l ./*.py | awk '$2 !~ /foil.py|total/ && $1 > 40' | wc -l)" -eq 0
done_testing
