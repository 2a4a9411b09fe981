#!/usr/bin/env bash
# scripts/check-skips prints skipped checks and refuses them in CI.
# Not for sanitizers: only scripts.
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

ok 'check-skips exits with 0 if no check is skipped' env CI=true "$check" "$work/none"
ok 'check-skips prints nothing if no check is skipped' test ! -s "$work/out"
ok 'check-skips exits with 0 for a skip outside of CI' "$check" "$work/some"
ok 'check-skips prints a skipped check and its reason' \
    grep -q 'test_jpeg: pixels: no python3-pil' "$work/out"
ok 'check-skips exits with 1 for a skip in CI' exits 1 env CI=true "$check" "$work/some"
ok 'check-skips accepts a skip in CI for shared data' env CI=true "$check" "$work/lawful"

# a test that fails the first time and would pass the second time
printf '#!/bin/sh\necho ok 1 - sums\ntest -e %s/seen || { >%s/seen; exit 3; }\n' \
    "$work" "$work" >"$work/once"
chmod +x "$work/once"
mkdir "$work/tap"
ok 'scripts/test does not repeat a test that fails in CI' \
    exits 3 env CI=true TAP="$work/tap" "${0%/*}/../../scripts/test" "$work/once"
ok 'scripts/test writes one line of times for a test that fails' \
    holds "$(grep -c . "$work/tap/times") == 1"
done_testing
