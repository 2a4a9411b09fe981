#!/usr/bin/env bash
# Rules of the protocol matter: each eighth rule is switched off, and its check must fail;
# `make rules` switches off all of them and runs the simulation, too.
# Not for sanitizers: make links the library for each rule; other tests of flow run it.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

cd "${0%/*}/../.." || exit 1
objects=${BIN%/bin}
case ${objects##*/} in
cover) export CC='gcc --coverage' ;;
esac

cp tests/flow/rules.py "$work"
ok 'every rule of the table exists, and its check fails without it' \
    env OUT="$objects" tests/flow/rules.py --quick
# shellcheck disable=SC2016 # of awk
ok 'each eighth rule was tried' awk '
    / rules switched off/ { fine = $1 == int(($3 + 7) / 8) && $3 > 60 }
    END { exit !fine }' "$work/out"
sed -i 's/"an older snapshot changes nothing"/"the lowest first, in turn"/' \
    "$work/rules.py"
ok 'a check that passes without its rule exits with 1' \
    exits 1 env OUT="$objects" "$work/rules.py" 'producer: an older snapshot'
ok 'rules.py names a check that passes without its rule' \
    grep -q "'the lowest first, in turn' passes without it" \
    "$work/out"
done_testing
