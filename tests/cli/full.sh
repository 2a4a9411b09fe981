#!/usr/bin/env bash
# Messages and files that are left when there is no space for a file.  Instead of a full
# disk, files are limited to N KiB.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"

PATH=$BIN:$PATH
cd "$work" || exit
mkdir -m 700 run keys
foil-data generate --size 8 -o set.tar 100 2>/dev/null
foil-data index set.tar 2>/dev/null
foil-embed --raw -o x.npy set.tar
foil-augment -r run --size 16 set.tar 2>/dev/null &
foil-select -r run --batch 50 --epochs 1 set.tar 2>/dev/null &
ok 'an encoder trains' foil-train -r run --threads 1 --arch resnet8,width=4
wait

# limited N COMMAND... : with files of at most N KiB; messages go through a pipe
limited() {
    local code=0
    (
        trap '' XFSZ
        ulimit -f "$1"
        exec "${@:2}" >/dev/null
    ) 2>&1 | cat
    code=${PIPESTATUS[0]}
    return "$code"
}

# left : prints the files of the folder
left() {
    find . ! -name 'out.*' ! -name before ! -type s | sort
}

# no_room N FILE COMMAND... : exits with 1, names the file, leaves no file
no_room() {
    local message code=0
    left >before
    message=$(limited "$1" "${@:3}") || code=$?
    echo "$message"
    test "$code" -eq 1 || { echo "exit code $code, want 1"; return 1; }
    test "${message##*: cannot write }" = "'$2': File too large" || return
    left | diff before -
}

while read -r limit file command; do
    # shellcheck disable=SC2086 # words
    ok "no space for the output: $command" no_room "$limit" "$file" $command
done <<'EOF'
1 o.tar foil-data generate -o o.tar 100
1 o.foil foil-data index -o o.foil set.tar
1 a.foil foil-data split set.tar a.foil b.foil
1 o.foil foil-data longtail -o o.foil set.tar
1 o.tar foil-data corrupt -k all -o o.tar set.tar
0 o.npy foil-data group --by label -o o.npy set.tar
1 o.npy foil-embed --raw -o o.npy set.tar
1 o.csv foil-embed --raw -o o.csv set.tar
1 o.file foil-embed --export o.file run
1 o.onnx foil-embed --onnx o.onnx run
1 o.npy foil-eval pca -o o.npy x.npy
1 o.png foil-augment --size 16 --sheet o.png set.tar
0 o.plan foil-select --score --plan-out o.plan -b 10 x.npy
0 keys/aug.key_secret foil-tap keys keys aug
0 new/command foil run simclr -r new set.tar
EOF
ok 'no space for the output: foil-data sheet' no_room 0 o.png \
    bash -c 'echo 0 1 | foil-data sheet -o o.png set.tar'
done_testing
