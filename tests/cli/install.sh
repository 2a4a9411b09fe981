#!/usr/bin/env bash
# make install, what another program and bash make of it, and make uninstall.
# Not for sanitizers: it installs the release.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

dest=$work/dest root=$work/dest/opt/foil
export PKG_CONFIG_PATH=$root/lib/pkgconfig LD_LIBRARY_PATH=$root/lib
into() {
    make --no-print-directory "$1" DESTDIR="$dest" PREFIX=/opt/foil
}
flags() {
    pkg-config --define-variable=prefix="$root" "$@"
}

# compile FILE FLAG... : $work/FILE.c to $work/FILE, as a stranger does
compile() {
    # shellcheck disable=SC2086 # the compiler may be "ccache gcc"
    ${CC:-cc} -std=c11 -Wall -Wextra -Werror "$work/$1.c" -o "$work/$1" "${@:2}"
}

pages() {
    local tool
    for tool in "$root"/bin/*; do
        test -s "$root/share/man/man1/${tool##*/}.1" || return
    done
}

# prints PATTERN COMMAND... : it succeeds, and prints a line like this
prints() {
    local out
    out=$("${@:2}") && grep -e "$1" <<<"$out"
}

# complete_as WORD... : what bash offers for the last word
complete_as() {
    # shellcheck disable=SC2016 # for the other bash
    bash -c 'PATH=${1%/*}:$PATH
        . "$0"
        complete -p "${1##*/}" >/dev/null || exit
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        _foil "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
        echo "${COMPREPLY[@]}"' \
        "$root/share/bash-completion/completions/foil" "$root/bin/$1" "${@:2}"
}

# offers WANT WORD... : bash offers exactly these words
offers() {
    local got
    got=$(complete_as "${@:2}")
    test "$got" = "$1" || { echo "got '$got'"; return 1; }
}
offers_among() {
    grep -qwe "$1" <<<"$(complete_as "${@:2}")"
}

# becomes WANT LINE : what zsh makes of a line
becomes() {
    rm -f "$work/line"
    PATH=$root/bin:$PATH timeout "$patience" tests/complete.zsh "$root/share" \
        "$work/line" "$2"
    grep -qx -e "$1 \?" "$work/line" || { cat "$work/line"; return 1; }
}
# fish_offers WANT LINE : fish offers exactly these lines
fish_offers() {
    local got
    mkdir -p "$work/fish"
    got=$(HOME=$work/fish XDG_DATA_DIRS=$root/share:/usr/share PATH=$root/bin:$PATH \
        fish -c "complete -C '$2'")
    test "$got" = "$1" || { echo "got '$got'"; return 1; }
}

mkdir -p "$dest/opt"
ok 'what is not installed cannot be taken away: make uninstall says so' \
    refuses 2 'nothing is installed' into uninstall
ok 'make install' into install
ok 'it says where' grep -qx "installed: $root/bin/foil and all of its tools" "$work/out"
ok 'each tool has its man page' pages

# linked : each page of HTML has its title, and no link of it leads nowhere
linked() {
    local page link
    for page in tools/*.[157]; do
        page=$root/share/doc/foil/html/${page##*/}.html
        grep -q '<title>' "$page" || { echo "no $page"; return 1; }
    done
    while read -r link; do
        [[ -e $root/share/doc/foil/html/$link ]] || { echo "no $link"; return 1; }
    done < <(grep -ho 'href="[^"#]*"' "$root"/share/doc/foil/html/*.html |
        cut -d '"' -f 2 | grep -v ://)
}
if command -v mandoc >/dev/null; then
    ok 'the manual is there as HTML, and each link leads to a page' linked
else
    skip 'the manual as HTML' 'no mandoc'
fi
ok 'an installed foil finds its pipelines' \
    prints '^  simclr ' "$root/bin/foil"

cat >"$work/product.c" <<'END'
#include <stdio.h>
#include "num/gemm.h"

int main(void)
{
    float a[4] = {1, 2, 3, 4}, c[4] = {0};

    num_gemm_nt(2, 2, 2, 1, a, a, 0, c);
    return printf("%g\n", (double)c[3]) < 0;
}
END
read -ra cflags < <(flags --cflags foil)
read -ra libs < <(flags --libs foil)
read -ra static < <(flags --cflags --libs foil-static)
ok 'a program of ten lines is compiled with the flags of foil.pc' \
    compile product "${cflags[@]}" "${libs[@]}"
ok 'it computes' prints '^25$' "$work/product"
ok 'it uses libfoil.so.1' \
    prints "$root/lib/libfoil.so.1" ldd "$work/product"
ok 'the same program with libfoil.a in it' \
    compile product "${static[@]}"
ok 'computes, too' prints '^25$' "$work/product"
ok 'without libfoil.so.1' \
    exits 1 prints libfoil ldd "$work/product"

# Stages of one's own in the midst of ours: one that binds, one that connects.
cp "${0%/*}/../../pipelines/examples/"{sampler,watch,loop}.c "$work"
ok 'a sampler in C is compiled with libfoil.so.1' compile sampler \
    -D_POSIX_C_SOURCE=200809L "${cflags[@]}" "${libs[@]}" -lm
"$work/sampler" "ipc://$work/checked" 2>/dev/null &
sampler=$!
ok 'it keeps to every rule of a service' \
    "$root/bin/foil-tap" check negatives "ipc://$work/checked"
kill "$sampler"
ok 'with libfoil.a it is compiled, too' compile sampler \
    -D_POSIX_C_SOURCE=200809L "${static[@]}"
# defines PATTERN : the library has such a function
defines() {
    nm --defined-only "$root/lib/libfoil.a" 2>/dev/null | grep -E " T ($1)\$"
}
ok 'libfoil takes the place of no function of the C library' \
    exits 1 defines 'socket|listen|accept4?|recv'
ok 'a watcher in C is compiled with libfoil.so.1' compile watch \
    -D_POSIX_C_SOURCE=200809L "${cflags[@]}" "${libs[@]}"
data=$work/data.tar
"$root/bin/foil-data" generate --size 8 -o "$data" 64 2>/dev/null
"$root/bin/foil-data" index "$data" 2>/dev/null
mkdir -m 700 "$work/run"
"$work/sampler" "ipc://$work/run/negatives" 2>/dev/null &
sampler=$!
timeout "$patience" "$root/bin/foil-train" -r "$work/run" --arch linear --head 8 \
    --threads 1 --objective emc2 --deadline 30 >"$work/train.log" 2>&1 &
trainer=$!
timeout "$patience" "$work/watch" "ipc://$work/run/events" >"$work/watched" &
watch=$!
ok 'a watcher of a run is connected' becomes_true is_heard run
"$root/bin/foil-select" -r "$work/run" -b 8 -e 2 "$data" 2>/dev/null &
"$root/bin/foil-augment" -r "$work/run" --size 8 "$data" 2>/dev/null &
ok 'foil-train takes the weights that it gives' wait "$trainer"
ok 'all 16 steps are trained' \
    test "$(wc -l <"$work/run/metrics.jsonl")" -eq 16
kill "$sampler"
ok 'it ends when it is told to' wait "$sampler"
ok 'the watcher ends with the run' wait "$watch"
ok 'and has printed the loss of steps, the last one included' \
    grep -q '^16 ' "$work/watched"

# falls COMMAND... : the last number that it prints is below the first one
falls() {
    "$@" | awk '{ x[NR] = $2 } END { exit !(NR == 5 && x[5] < x[1]) }'
}
ok 'a loop in C is compiled' compile loop "${cflags[@]}" "${libs[@]}"
mkdir "$work/kept"
ok 'its loss falls, by an objective of foil' falls "$work/loop" isogclr "$work/kept"
ok 'the state of its samples is kept' \
    grep -q log_u "$work/kept/samples.safetensors"

(cd "$root/include/foil" && printf '#include "%s"\n' */*.h &&
    echo 'int main(void) { return 0; }') >"$work/all.c"
ok 'every header is found and understood' \
    compile all "${cflags[@]}" -D_POSIX_C_SOURCE=200809L "${libs[@]}"
ok 'the library shows nothing that no header of it declares' \
    exits 1 prints ' dnn_' nm -D --defined-only "$root/lib/libfoil.so.1"

ok 'bash completes the name of an option' offers --negatives foil-train --neg
ok 'the value of one that takes a word out of several' \
    offers service foil-train --sampler ser
ok 'also behind a =' offers service foil-train --sampler = ser
ok 'a parameter behind a method' offers 'hcl,tau-plus=' foil-train --objective hcl,tau-p
ok 'behind another one' offers '0.5,tau-plus=' \
    foil-train --objective hcl,beta = 0.5,tau-p
ok 'a flag' offers 'sgd,nesterov' foil train --optim sgd,n
ok 'the word of a parameter' offers imagenet foil train --arch resnet18,stem = ima
ok 'and of a method of two' offers stale foil negatives --proposals row,scores = st
ok 'a file where an option takes one' \
    offers "$work/product.c" foil-train --init "$work/product."
ok 'a verb' offers index foil-data ind
ok 'an option of a verb' offers --decode foil-data index --dec
ok 'a command of foil' offers 'negatives' foil neg
ok 'an option of a verb of a command' offers --decode foil data index --dec
ok 'an option of a pipeline' offers --augmenters foil run simclr --augmente
ok 'of its stages' offers '--steps' foil run simclr --ste
ok 'a word for it' offers service foil run simclr --sampler ser
ok 'a word that a stage lists' offers spectral foil run simclr --strategy spec
ok 'a pipeline' offers simclr foil run sim
ok 'nothing else behind foil run' exits 1 offers_among 'select\|--help' foil run ''
ok 'a study' offers studies/geometry foil run studies/geo
ok 'options of other stages of a pipeline' offers '--train --train-command --trace --trainer' \
    foil run simclr --tra
ok 'an objective, which --list has' offers emc2_bimodal foil train --objective emc2_
ok 'also of a pipeline' offers emc2_bimodal foil run simclr --objective emc2_
ok 'a strategy' offers spectral foil-select --strategy spec
ok 'the options as JSON, of a verb, too' offers options foil data index --list ''
ok 'a verb of foil-tap' offers replay foil tap rep
ok 'a topic of foil help' offers recipes foil help rec
ok 'no file for a number' offers '' foil train --steps ''
ok 'nor an option where files are meant' offers '' foil eval knn ''

while IFS='|' read -r what line zsh fish; do
    ok "zsh completes $what" becomes "$zsh" "$line"
    ok "fish completes $what" fish_offers "$fish" "$line"
done <<'END'
an option|foil-train --neg|foil-train --negatives|--negatives
a word for it|foil train --sampler ser|foil train --sampler service|service
a parameter|foil train --optim sgd,n|foil train --optim sgd,nesterov|sgd,nesterov
its word|foil train --arch resnet18,stem=ima|foil train --arch resnet18,stem=imagenet|resnet18,stem=imagenet
also behind a =|foil train --sampler=ser|foil train --sampler=service|--sampler=service
a verb|foil-data ind|foil-data index|index
a pipeline|foil run sim|foil run simclr|simclr
a word that a stage lists|foil run simclr --strategy spec|foil run simclr --strategy spectral|spectral
no file for a number|foil train --steps |foil train --steps|
END
ok 'fish offers a file where an option takes one' \
    fish_offers "$work/product.c" "foil-train --init $work/product."
ok 'and zsh' becomes "foil-train --init $work/product.c" \
    "foil-train --init $work/product."

mkdir -p "$root/lib/mine"
touch "$root/share/old"
sed -i '$i file /opt/foil/share/old' "$root/share/foil/installed"
ok 'make install again' into install
ok 'takes away what only the version before had' test ! -e "$root/share/old"
ok 'make uninstall' into uninstall
ok 'leaves what it did not bring' rmdir "$root/lib/mine"
ok 'with the folders of that, and nothing else' \
    test "$(cd "$dest" && find . ! -type d)$(find "$root" | wc -l)" = 2
rmdir "$root/lib" "$root"
ok 'make install into a folder that is not there' into install
ok 'make uninstall' into uninstall
ok 'leaves nothing' test "$(find "$dest" | wc -l)" = 2
done_testing
