# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154 # variables are shared with lib.sh
#
# Sourced by lib.sh: what a pipeline of images and captions needs besides: its
# vocabulary, and what such encoders are judged by.  $vocabulary is a file, or
# '' for one that is made of the captions; $context and $size are as in
# foil-augment(1).

# captioned DATA : or there is nothing to learn, and to judge by
captioned() {
    local with
    with=$(foil-data info "$1" | sed -n 's/^captions\t//p')
    [[ ${with:-0} != 0 ]] ||
        die 1 "'$1' has no captions: foil-data(1) says how they get into an\
 index"
}

# with_texts : trainer and augmenters are told of the captions
with_texts() {
    merges=(--vocabulary "${vocabulary:-$run/vocabulary.txt}")
    augment+=('--views 1' "--size $size" "--context $context")
}

# vocabulary_of DATA : make it where none is given, in $run
vocabulary_of() {
    [[ -n $vocabulary || -e ${merges[1]} ]] ||
        step foil-data vocabulary -o "${merges[1]}" "$1"
}

# embed_pairs NAME TEST : RUN/embedded/NAME.npy and NAME-texts.npy
embed_pairs() {
    features "$1" "$2" --layer z
    features "$1-texts" "$2" --captions
}

# judge_texts TEST : retrieval, and where there are classes, what their texts
# name; on the terminal and in RUN/results.jsonl, once
judge_texts() {
    local at=$run/embedded/test names=$classes
    [[ $learnt != before || -n $judge_anew ]] || ! judged || return 0
    embed_pairs test "$1"
    [[ -n $names || ! -e $at.classes ]] || names=$at.classes
    if [[ -n $names ]]; then
        step foil-embed -o "$run/embedded/classes.npy" --classes "$names" \
            ${templates:+--templates "$templates"} "$run/latest"
        step foil-eval zero-shot "$at.npy" "$run/embedded/classes.npy"
    fi
    step foil-eval retrieve --captions "$at.npy" "$at-texts.npy"
}
