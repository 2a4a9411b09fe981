#!/usr/bin/env bash
# Train on emoji by two artists and their names, in three minutes.
#
# Three minutes on two cores.  The drawings are those of Debian's packages
# ruby-tanuki-emoji (Noto) and ruby-gemojione (EmojiOne), which are downloaded
# and unpacked, but not installed.  Two questions: does a drawing that was not
# learnt find its name and key words, where the other artist's drawing was learnt
# with them; and does the drawing of a concept of which nothing was learnt.
# Chance, canonical correlations of simple features, and the name of the nearest
# drawing of the other artist stand beside the encoders.  Leaves the table as
# table.txt, and as sheet.png questions with their best answers.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
objective=sogclr_bimodal epochs=120 batch=256 warm=2 context=32 size=48 packages=''
vocabulary=''
# shellcheck disable=SC2034
own=('packages DIR where both packages are unpacked; else downloaded'
    'size N images are N x N')
# shellcheck disable=SC2034
train=('--text bow:128' '--embed 128' '--arch resnet18' '--stem imagenet'
    '--width 32' '--optim adamw' '--lr 2e-3' '--weight-decay 0.5'
    '--beta2 0.98' '--schedule cosine' '--checkpoint-every 1000')
# shellcheck disable=SC2034
augment=('--recipe cifar,scale-min=0.6,jitter=0.8,hue=0.05,grey=0.1'
    '--drop-tokens 0.1' '--cache 200')

options '' "$@"
fresh_run
began=$SECONDS
# two drawings of one emoji are no negatives of each other
select=("--avoid $run/groups.npy")

# unpacked PACKAGE : it is in the cache
unpacked() {
    local cache=$packages tool
    [[ ! -e $cache/$1 ]] || return 0
    for tool in apt-get dpkg-deb; do
        command -v "$tool" >/dev/null ||
            die 1 "no $tool here: unpack Debian's $1 and give its folder with\
 --packages"
    done
    mkdir -p "$cache"
    rm -rf "$cache/$1".new "$cache/$1"_*.deb
    say "downloads Debian's $1 to '$cache'"
    (cd "$cache" && apt-get -qq download "$1" >"$1.log" 2>&1) ||
        die 1 "apt-get cannot download $1 ('$cache/$1.log' says why): it needs\
 the network and the lists of 'apt-get update'; or unpack the package and give\
 its folder with --packages"
    dpkg-deb -x "$cache/$1"_*.deb "$cache/$1.new"
    mv "$cache/$1.new" "$cache/$1"
}

# find_packaged FILE : the one of that name in the packages
find_packaged() {
    local found
    found=$(find -L "$packages" -path "*/$1" -print -quit 2>/dev/null) || :
    [[ -n $found ]] || die 1 "'$packages' has no '$1': it is to have Debian's\
 ruby-tanuki-emoji and ruby-gemojione, unpacked"
    echo "$found"
}

# pictures FOLDER : its drawings, in an order that is everywhere the same
pictures() {
    find "$(realpath "$1")" -name '*.png' | LC_ALL=C sort
}

# drawings : RUN/data: lists, captions and indices
drawings() {
    local data=$run/data part names tests one two
    [[ ! -e $data/concept.foil ]] || return 0
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
    LC_ALL=C awk -v out="$data" -f "$library/emoji-drawings.awk" "$names" \
        "$tests" "$data/one.list" "$data/two.list"
    for part in full train drawing twin concept; do
        [[ -s $data/$part.txt ]] || die 1 "'$packages' has too few drawings"
        step foil-data index -o "$data/$part.foil" \
            --captions "$data/$part.tsv" "$data/$part.txt" 2>"$data/said" ||
            die 1 "$(<"$data/said")"
    done
}

# compare : what is found without any training, as RUN/QUESTION.jsonl
compare() {
    local part at=$run/embedded/simple
    mkdir -p "$run/embedded"
    for part in full drawing concept twin; do
        step foil-embed --descriptor -o "$at-$part.npy" "$run/data/$part.foil"
        [[ $part == twin ]] || step foil-embed --raw --captions --vocabulary \
            "$run/vocabulary.txt" -o "$at-$part-texts.npy" \
            "$run/data/$part.foil"
    done
    for part in drawing concept; do
        step foil-eval cca --threads "$threads" "$at"-{full,full-texts}.npy \
            "$at-$part"{,-texts}.npy >"$run/$part.jsonl"
    done
    step foil-eval retrieve "$at"-{drawing,twin}.npy >>"$run/drawing.jsonl"
}

# judge_drawings : the encoders by the same questions, with their answers
judge_drawings() {
    local part at=$run/embedded
    for part in drawing concept; do
        embed_pairs "$part" "$run/data/$part.foil"
        step foil-eval retrieve --captions --answers "$run/$part.answers" \
            --threads "$threads" "$at/$part"{,-texts}.npy >>"$run/$part.jsonl"
    done
}

# draw_sheet : RUN/sheet.png: new drawings and their captions, and the reverse
draw_sheet() {
    local data=$run/data
    step foil-embed --raw --size 64 -o "$run/embedded/pixels.npy" \
        "$data/drawing.foil"
    awk -v pixels=embedded/pixels.npy -f "$library/emoji-sheet.awk" \
        "$data/drawing.tsv" "$run/drawing.answers" >"$run/sheet.gp"
    draw "$run" sheet
}

with_texts
prepare
drawings
vocabulary_of "$run/data/train.foil"
[[ -e $run/groups.npy ]] || step foil-data group --by caption \
    -o "$run/groups.npy" "$run/data/train.foil"
learn "$run/data/train.foil"
compare
judge_drawings
awk -f "$library/emoji-table.awk" "$run"/{drawing,concept}.jsonl >"$run/table.txt"
draw_sheet

echo
cat "$run/table.txt"
cat <<END

It took $((SECONDS - began)) seconds.  In '$run':
  sheet.png      new drawings with the names that they found, and the reverse
  table.txt      the above
  latest         the encoders, for foil-embed(1)
  drawing.jsonl  the full protocol of new drawings; concept.jsonl, of new concepts

The drawings are Noto's (Apache-2.0) and EmojiOne's (CC-BY-SA-4.0), from Debian's
packages ruby-tanuki-emoji and ruby-gemojione.
END
