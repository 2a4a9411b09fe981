#!/usr/bin/env bash
# foil-doctor for its users: what it prints of the machine and of data, and what keeps a
# run from starting.
# Not for sanitizers: it times steps of a run; other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 TMPDIR=$work/tmp

common foil-doctor
cd "$work" || exit 1
mkdir tmp empty
foil data generate -o set.tar --size 8 24 2>/dev/null

# fails PATTERN COMMAND... : the command exits with 1, and its last line matches
fails() {
    exits 1 "${@:2}" >shown 2>&1
    cat shown
    tail -n 1 shown | grep -q "$1"
}

foil doctor >machine
ok 'foil doctor of a machine that can run exits with 0' test $? = 0
for row in processor instructions memory 'disk here' 'open files' libraries jq gnuplot \
    mpirun python3; do
    ok "it prints a row: $row" grep "^  $row  " machine
done
ok 'it has the instruction set that FOIL_ISA names' bash -c \
    "FOIL_ISA=x86-64 foil doctor | grep -q 'instructions  *x86-64 (SSE2)'"
ok 'a missing program is named with its package' bash -c \
    "PATH='$BIN' foil-doctor | grep -A 1 '^  gnuplot ' | grep -q 'missing'"
ok 'too few open files exit with 1' fails 'raise ulimit -n' \
    bash -c 'ulimit -n 100; exec foil doctor'
foil doctor set.tar >machine
ok 'data without an index are tried' test $? = 0
ok 'it prints their size' grep '^  images  *24' machine
ok 'it prints the seconds of an epoch' grep "^  an epoch  *[0-9.e+]* s by 'foil run fast'" machine
ok 'it writes nothing beside the data' test ! -e set.tar.foil
ok 'it leaves no temporary file' test -z "$(ls -A tmp)"
ok 'missing data exit with 1' fails "no run can start: cannot open .*'none'" \
    foil doctor none
ok 'a folder without images exits with 1' fails 'there is no image in' \
    foil doctor empty
done_testing
