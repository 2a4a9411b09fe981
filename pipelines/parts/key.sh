#!/bin/sh
# usage: key.sh FOLDER ROLE
#
# A certificate of that role, its public half in FOLDER/public for all to know.
set -eu
mkdir -p "$1/public"
chmod 700 "$1"
[ ! -e "$1/$2.key_secret" ] || exit 0
foil-tap --role "$2" keys "$1/public" "$2" >/dev/null
mv "$1/public/$2.key_secret" "$1"
