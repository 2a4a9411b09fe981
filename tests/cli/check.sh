#!/bin/bash
# The conformance kit: every stage of foil keeps to the rules, and a stage that
# breaks one is told so.  A proxy between kit and stage breaks them: broken.py.
# Mostly waits
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

tap=$BIN/foil-tap
broken=${0%/*}/broken.py

"$BIN/foil-data" generate --size 16 -o "$work/set.tar" 64 2>/dev/null
"$BIN/foil-data" index "$work/set.tar" 2>/dev/null

# stage ROLE DIR : one of foil's, alone in that run directory
stage() {
    mkdir -p "$2"
    case $1 in
    select) set -- "$@" -b 8 -e 4 --lease 2 "$work/set.tar" ;;
    augment) set -- "$@" --size 16 "$work/set.tar" ;;
    train) set -- "$@" --arch linear --head 8-8 --threads 1 ;;
    esac
    "$BIN/foil-$1" -r "${@:2}" 2>"$2.log" &
}

# keeps ROLE : a stage of foil is checked
keeps() {
    stage "$1" "$work/$1"
    "$tap" check "$1" -r "$work/$1" --lease 2 >"$work/$1.out"
}

# breaks ROLE FAULT RULE : with that fault the rule is broken
breaks() {
    local dir=$work/$1-$2
    stage "$1" "$dir"
    mkdir "$dir.front"
    /usr/bin/python3 "$broken" "$1" "$2" "$dir" "$dir.front" &
    exits 1 "$tap" check "$1" -r "$dir.front" --lease 2 -n 1 >"$dir.out"
    grep -q "^not ok .*$3" "$dir.out" || { cat "$dir.out"; return 1; }
}

# all at a time, since most of each is waiting
faults=()
for role in select augment train negatives; do
    begun "$role" keeps "$role"
done
while IFS='|' read -r role fault rule; do
    begun "$role-$fault" breaks "$role" "$fault" "$rule"
    faults+=("$role|$fault|$rule")
done <<'end'
select|claims-another-role|its hello says select
select|hurries|sends no item before one is wanted
select|doubles-items|lowest wanted places first
select|hides-errors|answered with an error
augment|doubles-batches|item of another session is dropped
augment|hides-next|relays the trainer's snapshot
augment|hides-errors|answered with an error
train|hides-errors|answered with an error
train|repeats-itself|new snapshot each second
negatives|hides-errors|before a state
negatives|doubles-weights|answered with weights
end
for role in select augment train negatives; do
    ok "foil-$role keeps to every rule" ended "$role"
done
for one in "${faults[@]}"; do
    IFS='|' read -r role fault rule <<<"$one"
    ok "one that $fault in place of foil-$role is told: $rule" ended "$role-$fault"
done

ok 'an unknown role: 2' refuses 2 "no role 'cook'" "$tap" check cook -r "$work"
ok 'nowhere: 2' refuses 2 'check where' "$tap" check select
done_testing
