#!/usr/bin/env bash
# SimCLR on hard batches that are planned on another machine.
#
# Items and features go over tcp, encrypted and authenticated by CURVE: keys
# are made in RUN/keys, and the selector's are brought to a scratch folder over
# there.  --at says how to run something there: 'ssh HOST', where foil-select
# has to be on the PATH; nothing is a trial on this machine.  A link that is cut
# costs time alone: the plan is the same.  Should this pipeline be killed, a
# selector behind ssh has to be ended by hand.
# shellcheck source=pipelines/lib.sh
. "${FOIL_PIPELINES:-${0%/*}}/lib.sh"

# shellcheck disable=SC2034 # lib.sh reads them
batch=32 warm=5
at='' there=127.0.0.1 here=127.0.0.1 plan_port=7001 features_port=7002
data_there='' strategy=spectral
own=('at COMMAND runs its arguments where the selector is to be'
    'there HOST address of that machine, as augmenters reach it'
    'here HOST address of this one, as the selector reaches it'
    'plan-port N where plans are given'
    'features-port N where features are'
    'data-there DATA the data set on that machine, if it has another path'
    'strategy NAME of the selector')

options 'DATA [TEST]' "$@"
read -ra elsewhere <<<"$at"

# key ROLE : a certificate, its public half for all to know
key() {
    [[ ! -e $run/keys/$1.key_secret ]] || return 0
    foil-tap --role "$1" keys "$run/keys/public" "$1" >/dev/null
    mv "$run/keys/public/$1.key_secret" "$run/keys"
}

plan=tcp://$there:$plan_port features=tcp://$here:$features_port
select_data=$data_there
train=('--lr 0.06' '--checkpoint-every 2000' "--features $features"
    "--keys $run/keys/train.key_secret" "--allow $run/keys/public")
select=("--strategy $strategy" '--tau 0.5' "--plan $plan"
    "--trainer $features")
prepare "${operand[@]}"

mkdir -p "$run/keys/public"
chmod 700 "$run/keys"
for role in select augment train; do
    key "$role"
done
select_run=$("${elsewhere[@]}" mktemp -d) ||
    die 1 "cannot make a folder by '$at'"
trap 'code=$?; set +e; "${elsewhere[@]}" rm -rf "$select_run"; (exit $code)
    at_end' EXIT
tar c -C "$run/keys" public select.key_secret |
    "${elsewhere[@]}" tar x -C "$select_run" ||
    die 1 "cannot bring keys to '$there'"

augment=("--plan $plan" "--keys $run/keys/augment.key_secret"
    "--allow $run/keys/public")
select+=("--keys $select_run/select.key_secret"
    "--allow $select_run/public")
learn_and_judge "${operand[@]}"
