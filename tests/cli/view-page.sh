#!/usr/bin/env bash
# The page of foil-view in a browser: updates, clicks, a held batch; a run that is killed
# and resumed while the page is open; a finished run.
# Not for sanitizers: other tests run the stages of pipelines.
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
# The trainer first, then its parents; it holds the lock until it has ended.
kill_run() {
    local trainer
    read -r trainer _ <run/lock
    kill -KILL "$trainer"
    pkill -KILL -P "$training"
    kill -KILL "$training" 2>/dev/null
    wait "$training" 2>/dev/null
    while kill -0 "$trainer" 2>/dev/null; do nap 0.02; done
}
train
becomes_true test -s run/metrics.jsonl
foil-view --port 0 -r run >address 2>view.err &
page=$!
becomes_true test -s address

mkfifo answers
exec 5<>answers
serve() {
    case $1 in
    kill) kill_run ;;
    resume) train --resume ;;
    save) curl -s -o saved.html "$(<address)export" ;;
    export) foil-view -r run --export exported.html ;;
    end)
        kill -TERM "$training"
        wait "$training"
        foil-view -r run --export over.html
        foil-view --port 0 -r run >over 2>view.err &
        over=$!
        becomes_true test -s over
        ;;
    esac
    echo >&5
}
pass_on /usr/bin/python3 "$here/view_page.py" "$PWD/run" "$(<address)" "$PWD/over" <answers
kill -TERM "$page" "${over-$page}"
done_testing
