#!/usr/bin/env bash
# scripts/check-names names what static functions of three files share, and single
# words, and never fails.
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

# finds WHAT TEXT : the advice on the tree is that
finds() {
    ok "$1" test "$("$check" "$work/tree")" = "$2"
}

files take_it 'static int' 'static void'
finds 'two files may have one' ''
files take_it 'static int' 'static inline int' 'static void'
finds 'three are named' \
    'take_it() is in lib/room/1.c lib/room/2.c lib/room/3.c: say verb and object'
files take_it 'static int' 'static void' 'int'
finds 'but where it is public' ''
files make_table 'static int' 'static int' 'static int'
finds 'or means the same' ''
files take 'static int'
finds 'one word says nothing' 'lib/room/1.c: take(): say verb and object'
files judge_it 'static int'
finds 'what checks is no judge' \
    'lib/room/1.c: judge_it(): say check_, or what is measured'
files take 'int'
finds 'a public name may be one word' ''
echo 'static UTIL_CLONES(void, sum, (int x), (x))' >"$work/tree/lib/room/1.c"
finds 'a function that is compiled several times may not' \
    'lib/room/1.c: sum(): say verb and object'
done_testing
