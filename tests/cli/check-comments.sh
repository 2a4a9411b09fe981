#!/usr/bin/env bash
# A comment that names a function which is not there is refused:
# scripts/check-comments.
# Not for sanitizers: a script alone.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

check=${0%/*}/../../scripts/check-comments

# source_of TEXT : a tree of one file with that text
source_of() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/lib/room"
    printf '%s\n' "$1" >"$work/tree/lib/room/file.c"
}

source_of '/* As put_row() does. */
void put_row(void) { printf("see none() // and */ this()"); } // put_row() again'
ok 'one that is there is fine' "$check" "$work/tree"
source_of '/* As put_rows() does. */
void put_row(void) {}'
ok 'one that is not: 1' exits 1 "$check" "$work/tree"
ok 'its place and name are said' \
    grep -q '^lib/room/file.c:1: there is no put_rows()' "$work/out"
source_of 'int row; // as put_row() sets it
/* or
 * none() */'
ok 'behind code and over lines: 1' exits 1 "$check" "$work/tree"
ok 'both are said' test "$(wc -l <"$work/out")" -eq 2
source_of 'int put_row; /* put_row() */ char c = '"'\"'"'; // other()'
ok 'a quote in quotes hides nothing' exits 1 "$check" "$work/tree"
ok 'but the name that is there' test "$(wc -l <"$work/out")" -eq 1
source_of '/* put_row() puts a row. */
void put_row(void) {}
void put_rows(void) {}

/* Two
 * rows. */
void put_two(void) { put_row(); }'
ok 'a comment may begin with the name of its function' "$check" "$work/tree"
source_of '/* put_row() puts a row. */
void put_rows(void) {}

/* All rows. */
void put_row(void) {}'
ok 'not with that of another: 1' exits 1 "$check" "$work/tree"
ok 'both are said' grep -q '^lib/room/file.c:1: put_row() is over put_rows()' "$work/out"
done_testing
