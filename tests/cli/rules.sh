#!/usr/bin/env bash
# Rules of the protocol matter: each eighth is switched off, and its witness
# fails; `make rules` does all of them, and has the simulation look, too.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

cd "${0%/*}/../.." || exit 1
objects=${BIN%/bin}
case ${objects##*/} in
asan) export CC='gcc -fsanitize=address,undefined' ;;
cover) export CC='gcc --coverage' ;;
esac

cp tests/flow/rules.py "$work"
ok 'every rule is where the table says, and is missed when it is off' \
    env OUT="$objects" tests/flow/rules.py --quick
# shellcheck disable=SC2016 # of awk
ok 'each eighth was tried' awk '
    / rules switched off/ { fine = $1 == int(($3 + 7) / 8) && $3 > 60 }
    END { exit !fine }' "$work/out"
sed -i 's/"an older snapshot changes nothing"/"the lowest first, in turn"/' \
    "$work/rules.py"
ok 'a witness that does not need its rule is none' \
    exits 1 env OUT="$objects" "$work/rules.py" 'producer: an older snapshot'
ok 'which is said' grep -q "'the lowest first, in turn' passes without it" \
    "$work/out"
done_testing
