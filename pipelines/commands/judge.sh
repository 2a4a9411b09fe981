#!/bin/sh
# Geometry of the features of DATA.
# foil-eval follow -r RUN --eval-command 'sh judge.sh DATA'
folder=$(mktemp -d) || exit
trap 'rm -r "$folder"' EXIT
while read -r _ _ checkpoint; do
    foil-embed -o "$folder/x.npy" "$checkpoint" "$1" &&
        foil-eval geometry --no-record "$folder/x.npy" &&
        echo ok || echo "error no features of '$checkpoint'"
done
