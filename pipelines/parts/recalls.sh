#!/bin/bash
# usage: recalls.sh RUN : recalls of images and captions in RUN/judged.jsonl
set -eu

# field NAME LINE : its first value
field() {
    [[ $2 =~ \"$1\":\"?([^],}\"]*) ]] && echo "${BASH_REMATCH[1]}"
}
line=$(grep '"rule":"equal"' "$1/judged.jsonl")
for k in 1 5 10; do
    printf 'TR@%d\t%s\n' "$k" "$(field "r$k" "${line%%text_to_image*}")"
    printf 'IR@%d\t%s\n' "$k" "$(field "r$k" "${line#*text_to_image}")"
done
printf 'r_mean\t%s\n' "$(field r_mean "$line")"
"${0%/*}/seconds.sh" "$1"
