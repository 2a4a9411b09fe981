#!/usr/bin/env bash
# The page of foil-view in a browser: followed, clicked, held; a run that is killed and
# resumed under it; a run that is over.
# Not for sanitizers: pipelines, their stages are in others.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
here=$(cd "${0%/*}" && pwd)
if ! command -v chromium >/dev/null; then
    skip 'the page in a browser' 'no chromium'
    done_testing
fi
cd "$work" || exit 1
foil-data generate -o set.tar 40 2>/dev/null && foil-data index set.tar 2>/dev/null

train() {
    foil run simclr set.tar -r run --augmenters 1 --threads 1 --batch 8 \
        --epochs 100000 --arch linear --head 16-9 --size 16 --lr .01 \
        --checkpoint-every 20 "$@" 2>>run.err &
    training=$!
}
kill_run() {
    pkill -KILL -P "$training"
    kill -KILL "$training"
    wait "$training" 2>/dev/null
}
train
becomes_true test -s run/metrics.jsonl
foil-view --port 0 -r run >address 2>view.err &
page=$!
becomes_true test -s address

mkfifo answers
exec 5<>answers
while read -r line; do
    case $line in
    'ok '*) ok "${line#* - }" true ;;
    'not ok '*) ok "${line#* - }" false ;;
    '# please kill') kill_run ;;
    '# please resume') train --resume ;;
    '# please save') curl -s -o saved.html "$(<address)export" ;;
    '# please export') foil-view -r run --export exported.html ;;
    '# please end')
        kill -TERM "$training"
        wait "$training"
        ;;
    1..*) : >whole ;;
    *) echo "$line" ;;
    esac
    [[ $line != '# please'* ]] || echo >&5
done < <(/usr/bin/python3 "$here/view_page.py" "$PWD/run" "$(<address)" "$(<address)" <answers)
ok 'all of it was seen' test -e whole
kill -TERM "$page"
done_testing
