#!/usr/bin/env bash
# Options that 1.0.0 renamed are still accepted by their old names, with a message: by
# tools, by files of options and by pipelines.  A resumed run prints no message.
# shellcheck disable=SC2016 # scripts expand their variables
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
cd "$work" || exit 1
export PATH=$BIN:$PATH OMP_NUM_THREADS=1

foil-data generate -o set.tar --size 8 24 2>/dev/null
foil-data index set.tar 2>/dev/null
data=set.tar # runs of four steps in two epochs
augment_with=(--size 8) select_with=(--batch 12 --epochs 2)

# new_spelling TOOL OPTION ... : prints what the tool reports for old options
new_spelling() {
    "$1" -r "$work/none" "${@:2}" 2>&1 >/dev/null |
        sed -n "s/^$1: \(.*\) is now \(.*\); 1.1 drops the old spelling$/\1 > \2/p"
}
while IFS='|' read -r tool options want; do
    read -ra words <<<"$options"
    ok "$tool reports the new spelling: $options" \
        test "$(new_spelling "$tool" "${words[@]}" --dry-run)" = "$want"
done <<'END'
foil-train|--objective hcl --beta 0.5|--beta 0.5 > --objective hcl,beta=0.5
foil-train|--beta 0.5 --objective hcl|--beta 0.5 > --objective hcl,beta=0.5
foil-train|--momentum=0.5|--momentum 0.5 > --optim sgd,momentum=0.5
foil-train|--optim lars --lars b|--lars b > --optim lars,form=b
foil-train|--nesterov|--nesterov > --optim sgd,nesterov
foil-train|--no-nesterov|--no-nesterov > --optim sgd,no-nesterov
foil-train|--lr-end 0.01|--lr-end 0.01 > --schedule cosine,end=0.01
foil-train|--stem small|--stem small > --arch resnet18,stem=small
foil-train|--objective emc2 --sampler fresh|--sampler fresh > --sampler trainer
foil-train|--objective emc2 --sampler stale|--sampler stale > --sampler trainer --proposals ,scores=stale
foil-train|--objective emc2_bimodal --sampler bank|--sampler bank > --sampler trainer --proposals ,outside=bank
foil-train|--objective own --encoder true|--objective own > --objective external
foil-train|--objective own-weighed,tau=0.3 --encoder true|--objective own-weighed,tau=0.3 > --objective external-weighed,tau=0.3
foil-train|--nan skip|--nan > --nonfinite
foil-train|--average=0.3|--average > --average-last
foil-train|--objective hcl,beta=0.5 --optim sgd,momentum=0.5|
foil-negatives|--proposals row --burn-in 3|--burn-in 3 > --proposals row,burn-in=3
foil-negatives|--filter --method cache --refresh 0.1|--refresh 0.1 > --method cache,refresh=0.1
END
ok 'foil-select reports the new spelling' \
    test "$(new_spelling foil-select set.tar --dry-run --strategy spectral \
    --variant code)" = '--variant code > --strategy spectral,variant=code'
ok 'an old and a new spelling that differ exit with 2' refuses 2 \
    "--objective: beta is given twice: as '0.5' and as '0.6'" \
    foil-train -r none --objective hcl,beta=0.5 --beta 0.6
printf '%s\n' 'objective emc2' 'tau 0.4' 'sampler stale' >old.conf
ok 'a file of options reports the new spelling with its line' \
    test "$(new_spelling foil-train --config old.conf --dry-run)" = \
    "'old.conf', line 3: --sampler stale > --sampler trainer --proposals ,scores=stale
--tau 0.4 > --objective emc2,tau=0.4"

# the same bits and settings
train_with=(--arch linear --hidden 6 --head none --objective hcl --beta 0.7
    --tau-schedule linear --tau-end 1 --momentum 0.5 --lr-end 0.01)
ok 'a run with old spellings succeeds' trained old
train_with=(--arch linear,hidden=6 --head none --schedule cosine,end=0.01
    --objective hcl,beta=0.7,tau-schedule=linear,tau-end=1 --optim sgd,momentum=0.5)
ok 'the same run with new spellings succeeds' trained new
ok 'both runs are the same, to the bit' diff -r old/latest/ new/latest/
ok 'checkpoints have the same settings for new spellings' \
    jq -e '.options | .beta == 0.7 and .["lr-end"] == 0.01 and
    .lars == "a" and .sampler == "service" and (has("scores") | not)' new/latest/config.json

# the trainer's own chains, which a checkpoint describes by the old word
train_with=(--arch linear --head none --objective emc2 --steps 2)
ok 'a run with an old --sampler succeeds' \
    trained chains --sampler stale --proposals row --burn-in 1
ok 'the checkpoint has the old word of the sampler' \
    jq -e '.options | .sampler == "stale" and .proposals == "row" and
    .["burn-in"] == 1' chains/latest/config.json
train_with=(--steps 4 --resume)
ok 'the run resumes with the new spelling' \
    trained chains --sampler trainer --proposals row,burn-in=1,scores=stale
ok '--resume with other scores exits with 1' \
    refuses 1 '--proposals: scores is "fresh", but "stale" in the' \
    foil-train -r chains --resume --proposals row,burn-in=1,scores=fresh

# foil run
listed() {
    foil run emc2 set.tar -r new-run --stages "$@" 2>messages |
        sed -n "s/^$stage .*RUN //p"
}
stage=train
ok 'a pipeline accepts an old option' eval "listed --beta 0.5 --objective hcl |
    grep '^--objective hcl,beta=0.5 '"
ok 'a pipeline reports the new spelling' grep -qx \
    'foil run emc2: --beta 0.5 is now --objective ,beta=0.5; 1.1 drops the old spelling' \
    messages
ok 'a pipeline accepts several old options' \
    eval "listed --train.tau .3 --train '--momentum 0.8 --sampler stale' |
    grep -- '^--objective emc2,tau=.3 .* --optim ,momentum=0.8 --sampler trainer --proposals ,scores=stale$'"
ok '--objective replaces single parameters of a pipeline' eval "listed --objective emc2 |
    grep '^--objective emc2,tau=0.2 ' && listed --objective emc2,tau=.4 |
    grep '^--objective emc2,tau=.4 ' && listed --objective hcl,beta=1 |
    grep '^--objective hcl,beta=1 '"
ok 'a pipeline accepts the old name of an objective' eval "listed \
    --objective own,tau=.3 --train '--encoder true' | grep -- '^--objective external,tau=.3 '"
ok 'a pipeline prints the new name of the objective once' test "$(grep -c -- \
    '--objective own,tau=.3 is now --objective external,tau=.3;' messages)" = 1
stage=negatives
ok 'a pipeline accepts old options of the service' \
    eval "listed --negatives '--proposals row --burn-in 0' |
    grep -- '--proposals row,burn-in=0 --method emc2'"
cat >mine <<'END'
#!/usr/bin/env foil-run
#: operands DATA
#: default  objective hcl
#: train    --lr 0.5 --tau 0.2 --nesterov --optim sgd --momentum 0.8
#: tuned    --beta 2
learn "$DATA" --train.tau-plus 0.2
END
chmod 755 mine
mine() {
    foil run ./mine set.tar -r mine-run --stages "$@" 2>messages | grep '^train'
}
ok 'a pipeline with an old header is accepted' eval "mine |
    grep 'hcl,tau=0.2,tau-plus=0.2,beta=2 .* --optim sgd,nesterov,momentum=0.8$'"
ok 'an old header prints no message with --stages' exits 1 grep 'is now' messages
foil run ./mine none.tar -r mine-run 2>messages
ok 'an old header prints a message for each option' \
    test "$(grep -c '^foil run ./mine: .* is now ' messages)" = 5
ok '--objective replaces parameters of an old header' eval "mine --objective hcl,tau=0.3 |
    grep 'hcl,tau-plus=0.2,beta=2,tau=0.3 '"

options=(--epochs 2 --batch 12 --threads 1 --augmenters 1)
ok 'a run of a pipeline succeeds' \
    foil run simclr set.tar -r run "${options[@]}" --objective hcl,beta=0.7 \
    --train '--arch linear,hidden=6 --head none --steps 2' --augment '--size 8'
sed -i 's/^objective .*/objective hcl/; s/^train .*/train --arch linear --head none --hidden 6 --beta 0.7 --steps 4/' \
    run/command
ok "the run's command has old options" grep -q '^train .*--beta 0.7' run/command
ok 'a run with an old command resumes' foil run simclr --resume -r run
ok 'a resumed run prints no message about old options' exits 1 grep -r 'is now' run/log
ok 'the resumed run trains the other steps' test "$(wc -l <run/metrics.jsonl)" = 4
printf '%s\n' '#!/usr/bin/env foil-run' '#: operands DATA' '#: tuned --tau 0.2' \
    'learn "$DATA"' >tuned
ok 'a run with another tau than its pipeline succeeds' \
    foil run ./tuned set.tar -r tuned-run \
    "${options[@]}" --train '--arch linear --head none --tau 0.7 --steps 2' --size 8
sed -i 's/^objective .*/objective simclr/; s/^train .*/train --arch linear --head none --tau 0.7 --steps 4/' \
    tuned-run/command
ok 'a run with an old tau resumes' foil run ./tuned --resume -r tuned-run
ok 'the resumed run has its own tau' jq -e '.options.tau == 0.7 and .state.total == 4' \
    tuned-run/latest/config.json
done_testing
