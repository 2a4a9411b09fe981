#!/usr/bin/env bash
# scripts/check-comments refuses a comment that names a function which does not exist.
# Not for sanitizers: only a script.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

check=${0%/*}/../../scripts/check-comments

# source_of TEXT : makes a tree of one file with that text
source_of() {
    rm -rf "$work/tree"
    mkdir -p "$work/tree/lib/room"
    printf '%s\n' "$1" >"$work/tree/lib/room/file.c"
}

source_of '/* As put_row() does. */
void put_row(void) { printf("see none() // and */ this()"); } // put_row() again'
ok 'check-comments accepts a comment that names an existing function' \
    "$check" "$work/tree"
source_of '/* As put_rows() does. */
void put_row(void) {}'
ok 'check-comments refuses a comment that names no function with 1' \
    exits 1 "$check" "$work/tree"
ok 'check-comments prints file, line and function' \
    grep -q '^lib/room/file.c:1: there is no put_rows()' "$work/out"
source_of 'int row; // as put_row() sets it
/* or
 * none() */'
ok 'check-comments refuses such comments after code and of several lines' \
    exits 1 "$check" "$work/tree"
ok 'check-comments prints both comments' test "$(wc -l <"$work/out")" -eq 2
source_of 'int put_row; /* put_row() */ char c = '"'\"'"'; // other()'
ok 'check-comments finds a comment after a quoted quotation mark' \
    exits 1 "$check" "$work/tree"
ok 'check-comments prints only the function that does not exist' \
    test "$(wc -l <"$work/out")" -eq 1
source_of '/* put_row() puts a row. */
void put_row(void) {}
void put_rows(void) {}

/* Two
 * rows. */
void put_two(void) { put_row(); }'
ok 'a comment may begin with the name of its own function' "$check" "$work/tree"
source_of '/* put_row() puts a row. */
void put_rows(void) {}

/* All rows. */
void put_row(void) {}'
ok 'a comment that begins with the name of another function exits with 1' \
    exits 1 "$check" "$work/tree"
ok 'check-comments prints both functions' \
    grep -q '^lib/room/file.c:1: the comment of put_row() is above put_rows()' "$work/out"
done_testing
