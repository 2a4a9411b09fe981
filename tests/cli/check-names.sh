#!/usr/bin/env bash
# A name that static functions of three files have, or that is one word, is refused:
# scripts/check-names.
# Not for sanitizers: a script alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

check=${0%/*}/../../scripts/check-names

# files NAME TYPE... : a tree of as many files, each with a function of that name
files() {
    local i=0 type
    rm -rf "$work/tree"
    mkdir -p "$work/tree/lib/room"
    for type in "${@:2}"; do
        i=$((i + 1))
        printf '%s\n%s(int x)\n{\n}\n' "$type" "$1" >"$work/tree/lib/room/$i.c"
    done
}

files take_it 'static int' 'static void'
ok 'two files may have one' "$check" "$work/tree"
files take_it 'static int' 'static inline int' 'static void'
ok 'three may not: 1' exits 1 "$check" "$work/tree"
ok 'all are named' grep -q \
    '^take_it() is in lib/room/1.c lib/room/2.c lib/room/3.c' "$work/out"
files take_it 'static int' 'static void' 'int'
ok 'but where it is public' "$check" "$work/tree"
files make_table 'static int' 'static int' 'static int'
ok 'or means the same' "$check" "$work/tree"
files take 'static int'
ok 'one word says nothing: 1' exits 1 "$check" "$work/tree"
ok 'by its name' grep -q '^lib/room/1.c: take(): say verb and object' "$work/out"
files judge_it 'static int'
ok 'what checks is no judge: 1' exits 1 "$check" "$work/tree"
ok 'and how it is called' grep -q '^lib/room/1.c: judge_it(): say check_' "$work/out"
files take 'int'
ok 'but where it is public' "$check" "$work/tree"
echo 'static UTIL_CLONES(void, sum, (int x), (x))' >"$work/tree/lib/room/1.c"
ok 'nor where it is compiled several times: 1' exits 1 "$check" "$work/tree"
done_testing
