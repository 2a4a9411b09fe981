#!/bin/sh
# usage: fits.sh labels|captions DATA [TEST]
#
# Checks that data sets have what the evaluation needs.  Prints lines "die", with an
# error, or "say", with a note.
set -eu

# field NAME DATA... : that field of foil-data info
field() {
    name=$1
    shift
    foil-data info "$@" | sed -n "s/^$name	//p"
}

if [ "$1" = captions ]; then
    for data in "$2" ${3+"$3"}; do
        case $(field captions "$data") in
        '' | 0) echo "die '$data' has no captions: add them to its index, foil-data(1)" ;;
        esac
    done
fi
[ -n "${3-}" ] || exit 0
if [ "$2" != "$3" ]; then
    both=$(field shared "$3" "$2")
    [ "${both:-0}" = 0 ] ||
        echo "say $both of $(field samples "$3") images of '$3' are in '$2', too"
fi
[ "$1" = labels ] || exit 0
for data in "$2" "$3"; do
    [ "$(field classes "$data")" != 0 ] ||
        echo "die '$data' has no labels, so that nothing can be judged by it: leave TEST out, or have a folder for each class in it"
    none=$(foil-data classes "$data" | sed -n 's/^-1	\([0-9]*\)	.*/\1/p')
    [ -z "$none" ] ||
        echo "die images of '$data' without a label: $none; nothing can be judged by these (foil data list names them): leave TEST out, or give them one"
done
# after the training foil-eval would refuse a class that DATA does not have
{ foil-data classes "$2"; foil-data classes "$3"; } | awk -F '\t' \
    -v data="$2" -v test="$3" '
    { name = $3; if (name ~ /^[0-9]+$/) sub(/^0+/, "", name) }
    $1 !~ /^-?[0-9]+$/ { part++; next }
    part == 1 { known[name]; next }
    $2 && !(name in known) {
        print "die \047" test "\047 has images of the class \047" $3 "\047, which \047" \
            data "\047 does not have: leave TEST out, or this class out of it"
        exit
    }'
