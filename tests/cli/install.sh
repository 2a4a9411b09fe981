#!/usr/bin/env bash
# make install, its use by programs and shells, and make uninstall.
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

# compile FILE FLAG... : $work/FILE.c to $work/FILE, as a user does
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

# prints PATTERN COMMAND... : the command succeeds and prints a line that matches
prints() {
    local out
    out=$("${@:2}") && grep -e "$1" <<<"$out"
}

# complete_as WORD... : prints what bash offers for the last word
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

# becomes WANT LINE : zsh completes LINE to WANT
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
ok 'make uninstall without an installation exits with 2' \
    refuses 2 'nothing is installed' into uninstall
ok 'make install succeeds' into install
ok 'make install prints where it installed foil' \
    grep -qx "installed: $root/bin/foil and all of its tools" "$work/out"
ok 'each tool has its man page' pages

# linked : each HTML page has a title, and all its local links exist
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
    ok 'the manual is installed as HTML without broken links' linked
else
    skip 'the manual is installed as HTML' 'no mandoc'
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
ok 'a program compiles with the flags of foil.pc' \
    compile product "${cflags[@]}" "${libs[@]}"
ok 'the program computes' prints '^25$' "$work/product"
ok 'the program is linked with libfoil.so.1' \
    prints "$root/lib/libfoil.so.1" ldd "$work/product"
ok 'a program compiles with the flags of foil-static.pc' \
    compile product "${static[@]}"
ok 'the static program computes' prints '^25$' "$work/product"
ok 'the static program is not linked with libfoil.so.1' \
    exits 1 prints libfoil ldd "$work/product"

# A user's stages among foil's: one binds, one connects.
cp "${0%/*}/../../pipelines/examples/"{sampler,watch,loop}.c "$work"
ok 'a sampler in C compiles with libfoil.so.1' compile sampler \
    -D_POSIX_C_SOURCE=200809L "${cflags[@]}" "${libs[@]}" -lm
"$work/sampler" "ipc://$work/checked" 2>/dev/null &
sampler=$!
ok 'foil-tap check accepts the sampler in C' \
    "$root/bin/foil-tap" check negatives "ipc://$work/checked"
kill "$sampler"
ok 'a sampler in C compiles with libfoil.a' compile sampler \
    -D_POSIX_C_SOURCE=200809L "${static[@]}"
# defines PATTERN : the library defines such a function
defines() {
    nm --defined-only "$root/lib/libfoil.a" 2>/dev/null | grep -E " T ($1)\$"
}
ok 'libfoil replaces no function of the C library' \
    exits 1 defines 'socket|listen|accept4?|recv'
ok 'a watcher in C compiles with libfoil.so.1' compile watch \
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
ok 'the watcher is connected to a run' becomes_true has_subscriber run
"$root/bin/foil-select" -r "$work/run" -b 8 -e 2 "$data" 2>/dev/null &
"$root/bin/foil-augment" -r "$work/run" --size 8 "$data" 2>/dev/null &
ok 'foil-train accepts the weights of the sampler' wait "$trainer"
ok 'all 16 steps are trained' \
    test "$(wc -l <"$work/run/metrics.jsonl")" -eq 16
kill "$sampler"
ok 'the sampler exits with 0 after SIGTERM' wait "$sampler"
ok 'the watcher exits with 0 at the end of the run' wait "$watch"
ok 'the watcher prints the loss of all steps' \
    grep -q '^16 ' "$work/watched"

# falls COMMAND... : of five numbers that it prints, the last is below the first
falls() {
    "$@" | awk '{ x[NR] = $2 } END { exit !(NR == 5 && x[5] < x[1]) }'
}
ok 'a training loop in C compiles' compile loop "${cflags[@]}" "${libs[@]}"
mkdir "$work/state"
ok 'the loss of the loop falls with an objective of foil' \
    falls "$work/loop" isogclr "$work/state"
ok 'the loop saves the state of its samples' \
    grep -q log_u "$work/state/samples.safetensors"

(cd "$root/include/foil" && printf '#include "%s"\n' */*.h &&
    echo 'int main(void) { return 0; }') >"$work/all.c"
ok 'every installed header compiles' \
    compile all "${cflags[@]}" -D_POSIX_C_SOURCE=200809L "${libs[@]}"
ok 'the library exports no symbols of oneDNN' \
    exits 1 prints ' dnn_' nm -D --defined-only "$root/lib/libfoil.so.1"

ok 'bash completes the name of an option' offers --negatives foil-train --neg
ok 'bash completes a value from a list' \
    offers service foil-train --sampler ser
ok 'bash completes a value after =' offers service foil-train --sampler = ser
ok 'bash completes a parameter after a method' \
    offers 'hcl,tau-plus=' foil-train --objective hcl,tau-p
ok 'bash completes a parameter after another parameter' offers '0.5,tau-plus=' \
    foil-train --objective hcl,beta = 0.5,tau-p
ok 'bash completes a flag of an optimiser' offers 'sgd,nesterov' foil train --optim sgd,n
ok 'bash completes the value of a parameter' \
    offers imagenet foil train --arch resnet18,stem = ima
ok 'bash completes the value of a second parameter' \
    offers stale foil negatives --proposals row,scores = st
ok 'bash completes a file' \
    offers "$work/product.c" foil-train --init "$work/product."
ok 'bash completes a verb' offers index foil-data ind
ok 'bash completes an option of a verb' offers --decode foil-data index --dec
ok 'bash completes a command of foil' offers 'negatives' foil neg
ok 'bash completes an option of a verb of a command' offers --decode foil data index --dec
ok 'bash completes an option of a pipeline' offers --augmenters foil run simclr --augmente
ok "bash completes an option of the pipeline's stages" \
    offers '--steps' foil run simclr --ste
ok "bash completes a value of a stage's option" \
    offers service foil run simclr --sampler ser
ok 'bash completes a value that a stage lists' \
    offers spectral foil run simclr --strategy spec
ok 'bash completes a pipeline' offers simclr foil run sim
ok 'bash completes only pipelines after foil run' \
    exits 1 offers_among 'select\|--help' foil run ''
ok 'bash completes a study' offers studies/geometry foil run studies/geo
ok 'bash completes options of other stages of a pipeline' \
    offers '--train --train-command --trace --trainer' \
    foil run simclr --tra
ok 'bash completes an objective of --list' \
    offers emc2_bimodal foil train --objective emc2_
ok 'bash completes an objective for a pipeline' \
    offers emc2_bimodal foil run simclr --objective emc2_
ok 'bash completes a strategy' offers spectral foil-select --strategy spec
ok 'bash completes --list of a verb' offers options foil data index --list ''
ok 'bash completes a verb of foil-tap' offers replay foil tap rep
ok 'bash completes a topic of foil help' offers recipes foil help rec
ok 'bash completes no files for a number' offers '' foil train --steps ''
ok 'bash completes no options for a file' offers '' foil eval knn ''

while IFS='|' read -r what line zsh fish; do
    ok "zsh completes $what" becomes "$zsh" "$line"
    ok "fish completes $what" fish_offers "$fish" "$line"
done <<'END'
an option|foil-train --neg|foil-train --negatives|--negatives
a value from a list|foil train --sampler ser|foil train --sampler service|service
a parameter|foil train --optim sgd,n|foil train --optim sgd,nesterov|sgd,nesterov
its value|foil train --arch resnet18,stem=ima|foil train --arch resnet18,stem=imagenet|resnet18,stem=imagenet
a value after =|foil train --sampler=ser|foil train --sampler=service|--sampler=service
a verb|foil-data ind|foil-data index|index
a pipeline|foil run sim|foil run simclr|simclr
a listed value|foil run simclr --strategy spec|foil run simclr --strategy spectral|spectral
nothing for a number|foil train --steps |foil train --steps|
END
ok 'fish completes a file' \
    fish_offers "$work/product.c" "foil-train --init $work/product."
ok 'zsh completes a file' becomes "foil-train --init $work/product.c" \
    "foil-train --init $work/product."

mkdir -p "$root/lib/mine"
touch "$root/share/old"
sed -i '$i file /opt/foil/share/old' "$root/share/foil/installed"
ok 'make install over an old version succeeds' into install
ok 'make install deletes files that only the old version had' test ! -e "$root/share/old"
ok 'make uninstall succeeds' into uninstall
ok 'make uninstall leaves other files' rmdir "$root/lib/mine"
ok 'make uninstall leaves only the folders of other files' \
    test "$(cd "$dest" && find . ! -type d)$(find "$root" | wc -l)" = 2
rmdir "$root/lib" "$root"
ok 'make install into a missing folder succeeds' into install
ok 'make uninstall from that folder succeeds' into uninstall
ok 'make uninstall leaves no files' test "$(find "$dest" | wc -l)" = 2
done_testing
