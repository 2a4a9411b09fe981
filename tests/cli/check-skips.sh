#!/usr/bin/env bash
# What is skipped is said, and in CI refused: scripts/check-skips.
# Not for sanitizers: scripts alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

check=${0%/*}/../../scripts/check-skips
unset CI

mkdir "$work/none" "$work/some" "$work/lawful"
printf 'ok 1 - sums\n1..1\n' >"$work/none/test_sums.tap"
cp "$work/none/test_sums.tap" "$work/some"
printf 'ok 1 - pixels # SKIP no python3-pil\n1..1\n' >"$work/some/test_jpeg.tap"
printf 'ok 1 - sets # SKIP no /a/../shared/data\n1..1\n' \
    >"$work/lawful/foil-data.sh.tap"

ok 'nothing is skipped: done' env CI=true "$check" "$work/none"
ok 'nothing is said' test ! -s "$work/out"
ok 'a skip is fine at home' "$check" "$work/some"
ok 'it is said, with the reason' \
    grep -q 'test_jpeg: pixels: no python3-pil' "$work/out"
ok 'in CI it is not' exits 1 env CI=true "$check" "$work/some"
ok 'but for what CI cannot have' env CI=true "$check" "$work/lawful"

# a test that fails when it is run first: a second run would pass
printf '#!/bin/sh\necho ok 1 - sums\ntest -e %s/seen || { >%s/seen; exit 3; }\n' \
    "$work" "$work" >"$work/once"
chmod +x "$work/once"
mkdir "$work/tap"
ok 'a test that fails is not run again, in CI either: its code' \
    exits 3 env CI=true TAP="$work/tap" "${0%/*}/../../scripts/test" "$work/once"
ok 'one line of times' holds "$(grep -c . "$work/tap/times") == 1"
done_testing
