#!/usr/bin/env bash
# scripts/check-names reports static functions of the same name in three files, and
# names of a single word; it never fails.
# Not for sanitizers: only a script.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

check=${0%/*}/../../scripts/check-names

# files NAME TYPE... : makes one file per TYPE, each with a function NAME of that type
files() {
    local i=0 type
    rm -rf "$work/tree"
    mkdir -p "$work/tree/lib/room"
    for type in "${@:2}"; do
        i=$((i + 1))
        printf '%s\n%s(int x)\n{\n}\n' "$type" "$1" >"$work/tree/lib/room/$i.c"
    done
}

# finds WHAT TEXT : a check that check-names prints that text for the tree
finds() {
    ok "$1" test "$("$check" "$work/tree")" = "$2"
}

files take_it 'static int' 'static void'
finds 'two files may have a static function of the same name' ''
files take_it 'static int' 'static inline int' 'static void'
finds 'check-names reports a static function of the same name in three files' \
    'take_it() is in lib/room/1.c lib/room/2.c lib/room/3.c: name more of the object in each'
files take_it 'static int' 'static void' 'int'
finds 'check-names ignores a name that is public in one file' ''
files make_table 'static int' 'static int' 'static int'
finds 'check-names ignores a name with the same type in three files' ''
files take 'static int'
finds 'check-names reports a static function with a name of one word' \
    'lib/room/1.c: take(): name it by verb and object, as read_labels()'
files judge_it 'static int'
finds 'check-names reports a name that begins with judge_' \
    'lib/room/1.c: judge_it(): say check_, or what is measured'
files take 'int'
finds 'check-names accepts a public name of one word' ''
echo 'static UTIL_CLONES(void, sum, (int x), (x))' >"$work/tree/lib/room/1.c"
finds 'check-names reports one word in a function that is compiled several times' \
    'lib/room/1.c: sum(): name it by verb and object, as read_labels()'
done_testing
