#!/usr/bin/env bash
# scripts/queues, which makes queues of tests that wait for most of their time.
# Not for sanitizers: a script alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
queues=$(cd "${0%/*}/../.." && pwd)/scripts/queues
mkdir -p "$work/tests/wire"
cd "$work" || exit 1

# test_of FILE TIME : a test that says so, as this one does not
test_of() {
    printf '#!/usr/bin/env bash\n# %s waits%s\n' Mostly "$2" >"tests/$1"
}
test_of a.sh ', 9 s'
test_of b.sh ', 5 s'
test_of c.sh ''
test_of wire/test_d.c ', 4 s'

# gives LINES N TEST... : these are its queues, a blank between two
gives() {
    local got
    got=$("$queues" "${@:2}" | paste -sd ' ')
    echo "$got"
    test "$got" = "$1"
}
ok 'the longest alone, the others together' \
    gives 'tests/a.sh tests/b.sh,build/tests/wire/test_d' 2 \
    tests/b.sh build/tests/wire/test_d tests/a.sh
ok 'one that does not say how long comes last' \
    gives 'tests/b.sh,tests/c.sh' 1 tests/c.sh tests/b.sh
ok 'no more queues than tests' gives 'tests/a.sh' 3 tests/a.sh
ok 'none of none' gives '' 3
done_testing
