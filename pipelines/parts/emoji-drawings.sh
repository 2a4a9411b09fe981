#!/usr/bin/env bash
# usage: emoji-drawings.sh FOLDER PACKAGES
#
# Writes to FOLDER lists, captions and indices of the drawings in the folder PACKAGES,
# or if that is '' of Debian's packages, which are downloaded.
set -euo pipefail
data=$1 packages=$2

fail() {
    echo "$1" >&2
    exit 1
}

# unpacked PACKAGE : downloads and unpacks it into the cache
unpacked() {
    local cache=$packages tool
    [[ ! -e $cache/$1 ]] || return 0
    for tool in apt-get dpkg-deb; do
        command -v "$tool" >/dev/null ||
            fail "no $tool here: unpack Debian's $1 and give its folder with\
 --packages"
    done
    mkdir -p "$cache"
    rm -rf "$cache/$1".new "$cache/$1"_*.deb
    echo "downloads Debian's $1 to '$cache'"  >&2
    (cd "$cache" && apt-get -qq download "$1" >"$1.log" 2>&1) ||
        fail "apt-get cannot download $1 ('$cache/$1.log' says why): it needs\
 the network and the lists of 'apt-get update'; or unpack the package and give\
 its folder with --packages"
    dpkg-deb -x "$cache/$1"_*.deb "$cache/$1.new"
    mv "$cache/$1.new" "$cache/$1"
}

# find_packaged FILE : prints the path of that file in the packages
find_packaged() {
    local found
    found=$(find -L "$packages" -path "*/$1" -print -quit 2>/dev/null) || :
    [[ -n $found ]] || fail "'$packages' has no '$1': it is to have Debian's\
 ruby-tanuki-emoji and ruby-gemojione, unpacked"
    echo "$found"
}

# pictures FOLDER : its drawings, in the same order everywhere
pictures() {
    find "$(realpath "$1")" -name '*.png' | LC_ALL=C sort
}

if [[ -z $packages ]]; then
    packages=${XDG_CACHE_HOME:-$HOME/.cache}/foil/emoji
    unpacked ruby-tanuki-emoji
    unpacked ruby-gemojione
fi
names=$(find_packaged config/index.json)
tests=$(find_packaged unicode/emoji-test.txt)
one=$(find_packaged assets/png)
two=$(find_packaged images/tanuki_emoji)
mkdir -p "$data"
pictures "$one" >"$data/one.list"
pictures "$two" >"$data/two.list"
LC_ALL=C awk -v out="$data" -f "${0%/*}/emoji-drawings.awk" "$names" "$tests" \
    "$data/one.list" "$data/two.list"
for part in full train drawing twin concept; do
    [[ -s $data/$part.txt ]] || fail "'$packages' has too few drawings"
    foil-data index -o "$data/$part.foil" --captions "$data/$part.tsv" \
        "$data/$part.txt" 2>"$data/error" || fail "$(<"$data/error")"
done
