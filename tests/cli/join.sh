#!/usr/bin/env bash
# Lists of indexes: foil-data index -j and join.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"

data=$BIN/foil-data
cd "$work" || exit 1
for i in 0 1 2 3; do
    "$data" generate --size 16 -s $i -o s$i.tar 24 2>>log
done

ok 'index -j makes an index of each tar and joins them' \
    "$data" index -j 2 -o set.foil s0.tar s1.tar s2.tar
ok 'it reports them' grep -q "'set.foil': 72 images in 3 indexes, 8 classes$" out
ok 'index makes one of the same tars' "$data" index -o flat.foil s0.tar s1.tar s2.tar
ok 'list prints the same samples' cmp <("$data" list set.foil) <("$data" list flat.foil)
ok 'list --where prints the same places' \
    cmp <("$data" list --where set.foil) <("$data" list --where flat.foil)
ok 'info prints the same facts' cmp <("$data" info set.foil) <("$data" info flat.foil)
ok 'classes prints the same sizes' \
    cmp <("$data" classes set.foil) <("$data" classes flat.foil)
ok 'cat prints a sample of the last index' \
    cmp <("$data" cat set.foil 70) <("$data" cat s2.tar 22)
ok 'split divides a list' "$data" split set.foil part rest
"$data" split flat.foil flat-part flat-rest
ok 'split divides it as the index' cmp <("$data" list part) <("$data" list flat-part)

# restart and append
ok 'the indexes are there' stat -c '%n %i' s0.tar.foil s2.tar.foil
cp out before
touch s1.tar
ok 'index -j with one more tar makes the missing indexes' \
    "$data" index -j 4 -o set.foil s0.tar s1.tar s2.tar s3.tar
ok 'the others stay' cmp before <(stat -c '%n %i' s0.tar.foil s2.tar.foil)
ok 'the index of a younger tar is made again' test s1.tar.foil -nt s1.tar
"$data" index -o flat.foil s0.tar s1.tar s2.tar s3.tar 2>>log
ok 'the list has all' cmp <("$data" list set.foil) <("$data" list flat.foil)
head -c 3000 s0.tar >cut.tar
ok 'index -j with a damaged tar exits with 1' refuses 1 \
    '1 of 3 paths have no index, for the reasons above' \
    "$data" index -j 2 -o other.foil cut.tar s0.tar s1.tar
ok 'it names the tar' grep -q "'cut.tar' is damaged or cut off" refuses.err
ok 'index -j with a damaged tar writes no list' test ! -e other.foil
printf 's0.tar\ns1.tar\n' >names
ok 'index -j reads the paths from standard input' \
    bash -c "'$data' index -j 2 -o two.foil - <names"
ok 'join joins indexes' "$data" join -o joined.foil s0.tar s1.tar.foil
ok 'both make the same list' cmp two.foil joined.foil
ok 'join reads names and places of data from standard input' bash -c \
    "printf 's0.tar\thttps://host/s0.tar\ns1.tar\n' | '$data' join -o placed.foil -"
ok 'places do not change the set' cmp <("$data" info placed.foil) <("$data" info two.foil)
ok 'join joins a list and an index' "$data" join -o joined.foil two.foil s2.tar s3.tar
ok 'the list is as long' cmp joined.foil set.foil
ok 'join without -o exits with 2' refuses 2 'name the list with -o FILE' \
    "$data" join s0.tar
ok 'join to one of its indexes exits with 1' refuses 1 'is one of the indexes' \
    "$data" join -o s0.tar.foil s0.tar s1.tar
ok 'join of no index exits with 1' refuses 1 "'log' has no index" \
    "$data" join -o joined.foil log
ok 'join to another file exits with 2' refuses 2 "'log' exists and is no index" \
    "$data" join -o log s0.tar
ok 'index -j without -o exits with 2' refuses 2 'name the list of indexes' \
    "$data" index -j 2 s0.tar
ok 'index -j with --captions exits with 2' refuses 2 'leave out -j' \
    "$data" index -j 2 -o x.foil --captions names s0.tar

# the set elsewhere, and without some of its files
mkdir far
mv s?.tar s?.tar.foil set.foil far
ok 'a list moves with its indexes and data' \
    cmp <("$data" list far/set.foil) <(cd far && "$data" list set.foil)
mv far/s1.tar far/x.tar
ok 'info needs no data' "$data" info far/set.foil
ok 'list without a tar exits with 1' refuses 1 "cannot find the data .*s1.tar'" \
    "$data" list far/set.foil
mv far/x.tar far/s1.tar
"$data" index -o far/s2.tar.foil far/s1.tar 2>>log
ok 'an index that was made of other data is refused' refuses 1 \
    "s2.tar.foil' is shard 2 of 'far/set.foil' and has changed" "$data" list far/set.foil
mv far/s?.tar .
"$data" index -j 2 -o set.foil s0.tar s1.tar s2.tar s3.tar 2>>log

# differ RUN RUN : their encoders differ
differ() {
    ! cmp -s "$1/latest/model.safetensors" "$2/latest/model.safetensors"
}

# kills: the same bytes
cp set.foil want.foil
for i in $(seq "${KILLS:-8}"); do
    [[ $((i % 2)) -eq 0 ]] || rm s?.tar.foil
    "$data" index -j 2 -o set.foil s0.tar s1.tar s2.tar s3.tar 2>>log &
    sleep 0.00$((RANDOM % 10))
    kill_now $!
done 2>>log
ok 'index -j after kills succeeds' \
    "$data" index -j 2 -o set.foil s0.tar s1.tar s2.tar s3.tar
ok 'it makes the same list' cmp set.foil want.foil

# tars of random samples
ok 'deal copies a set to tars' "$data" deal -o dealt 20 set.foil
ok 'it reports them' grep -q "'dealt': 96 images in 5 tars, 5 of them new" out
ok 'they can be indexed' "$data" index -j 2 -o dealt.foil dealt/*.tar
ok 'they have the same classes' cmp <("$data" classes set.foil) <("$data" classes dealt.foil)
ok 'they have the same images' grep -qx $'shared\t96' <("$data" info set.foil dealt.foil)
# images LIST : class, bytes and captions of each
images() {
    "$data" list "$1" | sed 1d | cut -f2-4,8 | sort
}
ok 'their images have the same classes and captions' cmp <(images set.foil) <(images dealt.foil)
ok 'each tar has 19 or 20' test "$(for tar in dealt/*.tar; do
    "$data" info "$tar" | sed -n 's/^samples\t//p'
done | sort -n | uniq -c | xargs)" = '4 19 1 20'
ok 'the samples of a tar are of all tars of before' \
    holds "$("$data" list dealt/00000.tar | sed 1d | cut -f7 | cut -c1-12 |
        awk '{ print int($1 / 24) }' | sort -u | wc -l) == 4"
cp -r dealt again
rm again/00001.tar
ok 'deal makes a missing tar' "$data" deal -o again 20 set.foil
ok 'of the same bytes' diff -r dealt again
ok 'deal without -o exits with 2' refuses 2 'name the folder of the tars with -o DIR' \
    "$data" deal 20 set.foil

# a run goes on with the list, and back
data=$work/flat.foil
augment_with=(--size 16) select_with=(-b 8 -e 4)
train_with=(--arch resnet8 --head 16-8 --checkpoint-every 10)
mkdir a b
ok 'a run on the index succeeds' trained a
ok 'a run on the index ends early' trained b --steps 20
data=$work/set.foil
ok 'the run goes on with the list' trained b --resume --steps 30
data=$work/flat.foil
ok 'the run goes on with the index' trained b --resume
ok 'a run on both has the checkpoint of one on the index' diff -r a/latest/ b/latest/

# windows of shards
for i in 4 5 6 7; do
    "$BIN/foil-data" generate --size 16 -s $i -o s$i.tar 7 2>>log
done
"$BIN/foil-data" index -j 2 -o set.foil s?.tar 2>>log
"$BIN/foil-data" index -o flat.foil s?.tar 2>>log
ok '--dry-run with --windows succeeds' \
    "$BIN/foil-select" --dry-run -b 8 --windows 4 set.foil
ok 'it prints the share of pairs of one shard' has_line '"same_shard": ?0?\.[0-9]' out
ok 'fewer than 4 shards in a window exit with 2' refuses 2 'want 4 or more' \
    "$BIN/foil-select" --dry-run --windows 3 set.foil
ok 'a set of fewer shards exits with 1' refuses 1 '4 shards or more.* here is 2' \
    "$BIN/foil-select" --dry-run -b 8 --windows 4 two.foil
for option in '--strategy spectral' '--strategy shuffle,refine' '--strategy replace' \
    '--strategy-command cat'; do
    # shellcheck disable=SC2086
    ok "--windows with $option exits with 2" refuses 2 \
        'for --strategy shuffle and fixed' \
        "$BIN/foil-select" --dry-run $option --windows 4 set.foil
done
ok '--windows with --avoid exits with 2' refuses 2 'does not go with --avoid' \
    "$BIN/foil-select" --dry-run --avoid x.npy --windows 4 set.foil
data=$work/flat.foil
select_with=(-b 8 -e 4 --windows 4)
mkdir c d
ok 'a run with windows on the index succeeds' trained c
ok 'a run with windows ends early' trained d --steps 21
data=$work/set.foil
ok 'another selector continues it, by the list' trained d --resume
ok 'a run that another selector continued has the same checkpoint' diff -r c/latest/ d/latest/
ok 'windows give another checkpoint' differ a c
select_with=(-b 8 -e 4 -s 5 --windows 6)
mkdir e
ok 'a run with six windows ends early' trained e --steps 21
select_with=(-b 8 -e 4 -s 5 --windows 4)
ok 'it continues with four windows' trained e --resume
ok 'its selector completes the plan of six windows' has_line "other|another plan, '.*--windows 6'" e.select
done_testing
