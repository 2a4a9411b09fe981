#!/usr/bin/env bash
# scripts/queues, which distributes tests that mostly wait to queues.
# Not for sanitizers: only a script.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
queues=$(cd "${0%/*}/../.." && pwd)/scripts/queues
mkdir -p "$work/tests/wire"
cd "$work" || exit 1

# test_of FILE TIME : makes a test with that mark, which this test must not have
test_of() {
    printf '#!/usr/bin/env bash\n# %s waits%s\n' Mostly "$2" >"tests/$1"
}
test_of a.sh ', 9 s'
test_of b.sh ', 5 s'
test_of c.sh ''
test_of wire/test_d.c ', 4 s'

# gives LINES N TEST... : the N queues are these, separated by spaces
gives() {
    local got
    got=$("$queues" "${@:2}" | paste -sd ' ')
    echo "$got"
    test "$got" = "$1"
}
ok 'queues: the longest test is alone, the others share a queue' \
    gives 'tests/a.sh tests/b.sh,build/tests/wire/test_d' 2 \
    tests/b.sh build/tests/wire/test_d tests/a.sh
ok 'queues: a test without a time comes last' \
    gives 'tests/b.sh,tests/c.sh' 1 tests/c.sh tests/b.sh
ok 'queues: not more queues than tests' gives 'tests/a.sh' 3 tests/a.sh
ok 'queues: no queue without tests' gives '' 3
done_testing
