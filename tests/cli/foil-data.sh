#!/usr/bin/env bash
# foil-data for its users.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

data=$BIN/foil-data
fashion=/usr/share/datasets/fashion-mnist
cd "$work" || exit 1

# value KEY DATA : prints the value of foil-data info
value() {
    "$data" info "$2" | sed -n "s/^$1\t//p"
}

# is WANT KEY DATA : foil-data info has that value
is() {
    local got
    got=$(value "$2" "$3")
    test "$got" = "$1" || { echo "$2 is '$got', want '$1'"; return 1; }
}

common foil-data
ok 'foil-data without a verb exits with 2' refuses 2 'needs a verb' "$data"
ok 'foil-data with an unknown verb exits with 2' refuses 2 "no verb 'pack'" "$data" pack
for verb in index join deal import generate split longtail corrupt group vocabulary info \
    classes list cat sheet; do
    ok "$verb --help exits with 0" "$data" "$verb" --help
    ok "$verb without operands exits with 2" refuses 2 "foil-data $verb: needs" \
        "$data" "$verb"
done

# generate
ok 'generate writes a tar' "$data" generate -o a.tar --size 16 40
ok 'generate writes a second tar' "$data" generate -o b.tar --size 16 40
ok 'generate with the same options writes the same bytes' cmp a.tar b.tar
ok 'generate writes a tar of another seed' "$data" generate -o b.tar --size 16 -s 2 40
ok 'generate with another seed writes other bytes' exits 1 cmp -s a.tar b.tar
ok 'generate without -o exits with 2' refuses 2 'name the tar with -o' "$data" generate 5
ok 'generate with a COUNT that is not a number exits with 2' \
    refuses 2 "COUNT 'x': want a whole number" \
    "$data" generate -o c.tar x
ok 'generate to a full disk exits with 1' refuses 1 "cannot write '/dev/full': No space" \
    "$data" generate -o /dev/full 40
ok 'tar lists the files of a generated tar' \
    test "$(tar tf a.tar | head -3 | tr '\n' ' ')" = \
    '000000.cls 000000.jpg 000000.txt '

ok 'generate reports 1 image in the singular' \
    bash -c "'$data' generate -o one.tar 1 2>&1 |
    grep \": 1 image\\$\""

# index, info, list
ok 'index reads a tar' "$data" index a.tar
ok 'index writes the index next to the data' test -s a.tar.foil
ok 'the index has 40 samples' is 40 samples a.tar
ok 'the index has 8 classes' is 8 classes a.tar
ok 'the index has 40 captions' is 40 captions a.tar.foil
ok 'the index has the width of the images' is $'16\t16' width a.tar
ok 'the index and its data have the same digest' \
    is "$(value digest a.tar.foil)" digest a.tar
ok 'list prints a table' bash -c "'$data' list a.tar >list"
ok 'list prints a header and a line for each sample' test "$(wc -l <list)" -eq 41
ok 'list prints id, label, class, size and name' \
    test "$(sed -n 3p list | cut -f1-3,5-7)" = \
    $'1\t1\t1\t16\t16\t000001.jpg'
ok 'list prints all captions of a sample in one cell' grep -qP 'on .* ground\\n\w+ ' list
ok 'list to a full disk exits with 1' exits 1 bash -c "'$data' list a.tar >/dev/full"
ok 'list to a pipe that closes exits with 0' bash -c \
    "'$data' list a.tar | head -1 | grep -q '^id'"
ok 'list --where prints a table' bash -c "'$data' list --where a.tar >where"
ok 'list --where prints the columns of list and two more' cmp list <(cut -f1-8 where)
ok 'list --where adds file and offset' test "$(sed -n 1p where | cut -f9-)" = \
    $'file\toffset'

# at ID : prints the bytes of a sample at the place that --where printed
at() {
    local bytes file offset
    IFS=$'\t' read -r bytes file offset < <(
        awk -F'\t' -v OFS='\t' -v id="$1" '$1 == id { print $4, $9, $10 }' where)
    tail -c +$((offset + 1)) "$file" | head -c "$bytes"
}
tar xf a.tar 000000.jpg 000039.jpg
ok '--where gives the place of the first JPEG' cmp 000000.jpg <(at 0)
ok '--where gives the place of the last JPEG' cmp 000039.jpg <(at 39)
ok 'cat prints the JPEG' cmp 000039.jpg <("$data" cat a.tar 39)
ok 'cat of a missing sample exits with 2' \
    refuses 2 "ID '40': want a whole number in 0 .. 39" "$data" cat a.tar 40
ok 'cat to a full disk exits with 1' exits 1 bash -c "'$data' cat a.tar 0 >/dev/full"
mkdir own
cp 000039.jpg own/one.jpg
"$data" index own 2>/dev/null
ok '--where prints offset 0 for an image file' test \
    "$("$data" list --where own | sed 1d | cut -f9-)" = "$(realpath own/one.jpg)"$'\t0'
ok 'cat prints an image file' cmp 000039.jpg <("$data" cat own 0)
cp 000000.jpg own/one.jpg
ok 'cat of a sample that has changed exits with 1' \
    refuses 1 "'one.jpg' has changed since it was indexed" "$data" cat own 0

# lists
mkdir -p pets/cat pets/dog
tar xf a.tar -C pets/cat 000000.jpg 000001.jpg
tar xf a.tar -C pets/dog 000002.jpg
mv pets/dog/000002.jpg 'pets/dog/a, b.jpg'
ok 'index of two class folders succeeds' bash -c \
    "'$data' index -o pets.foil pets/cat pets/dog 2>messages"
ok 'index reports that no sample has a label' grep -q 'no sample has a label: ' messages
printf '\xef\xbb\xbfsplit,label,filepath,title\r\ntrain,cat,cat/000000.jpg,"Ears, two"\r\n' \
    >pets/list.csv
printf 'test,"a ""dog""","dog/a, b.jpg",\r\n\r\n' >>pets/list.csv
ok 'index reads a .csv with a heading' "$data" index -o csv.foil pets/list.csv
ok 'a .csv has named columns and quoted cells' test \
    "$("$data" list csv.foil | sed 1d | cut -f2,3,7,8)" = \
    $'1\tcat\tcat/000000.jpg\tEars, two\n0\ta "dog"\tdog/a, b.jpg\t'
printf 'dog/a, b.jpg\tdog\ncat/000001.jpg\tcat\n' >pets/list.txt
ok 'index reads a list with tabs' "$data" index -o tabs.foil pets/list.txt
ok 'a list with tabs needs no heading' test \
    "$("$data" list tabs.foil | sed 1d | cut -f2,3,7)" = \
    $'1\tdog\tdog/a, b.jpg\n0\tcat\tcat/000001.jpg'

printf 'Bild,Art,Jahr\ncat/000000.jpg,cat,1\ndog/none.jpg,,\n' >pets/list.csv
ok 'unknown columns in a heading exit with 1' refuses 1 \
    'columns that are known: Bild, Art, Jahr; describe them, as in --columns' \
    "$data" index --bad skip -o csv.foil pets/list.csv
ok '--columns names the columns of a list' bash -c "'$data' index --bad skip \
    --columns name=Bild,label=Art -o csv.foil pets/list.csv 2>messages"
ok 'index prints the columns that are not used' grep -q 'not used: Jahr$' messages
ok 'the last line of index has the numbers of images and classes' \
    test "$(tail -n 1 messages)" = \
    "foil-data index: 'csv.foil': 1 image, 1 class (cat)"
ok '--columns with an unknown column exits with 2' \
    refuses 2 "want name, label or caption before the '='" \
    "$data" index --columns nme=x -o csv.foil pets/list.csv

printf '# of today\npath\tlabel\n#dog/x.jpg\tdog\ncat/000000.jpg\tcat\n' \
    >pets/list.txt
ok 'index reads a list with comments' "$data" index -o tabs.foil pets/list.txt
ok 'comments in a list are no samples' is 1 samples tabs.foil
ok 'index reads a list on standard input' bash -c \
    "cd pets && find . -name '*.jpg' | sort | '$data' index -o ../found.foil -"
ok 'paths on standard input are relative to the current folder' test \
    "$("$data" list found.foil | sed 1d | cut -f7 | xargs -d '\n')" = \
    'cat/000000.jpg cat/000001.jpg dog/a, b.jpg'
ok 'the folders of a list on standard input are classes' is 2 classes found.foil
ok 'index - without -o exits with 2' refuses 2 'name its index with -o FILE' \
    bash -c "'$data' index - </dev/null"
ok 'index - of an empty list exits with 1' refuses 1 'there is no' \
    bash -c "'$data' index -o none.foil - </dev/null"
ok 'a list with spaces exits with 1 and asks for a tab' refuses 1 \
    'between path and label a list has a tab' \
    bash -c "echo 'cat/000000.jpg cat' | '$data' index -o none.foil -"

ok 'index of two data sets without -o exits with 2' refuses 2 'name its index with -o' \
    "$data" index a.tar b.tar
ok 'index makes one index of two tars' "$data" index -o ab.foil a.tar b.tar
ok 'the index of two tars has 80 samples' is 80 samples ab.foil
ok 'index of an index exits with 1' refuses 1 \
    "'a.tar.foil' is an index: name its data" "$data" index -o c.foil a.tar.foil
cp a.tar.foil old.foil
ok 'index to a full disk exits with 1' \
    refuses 1 'No space' "$data" index -o /dev/full a.tar
ok 'index to a full disk does not change the old index' cmp a.tar.foil old.foil

"$data" index -o ba.foil b.tar a.tar
ok 'info counts the images that two sets share' \
    test "$("$data" info a.tar ba.foil | tail -1)" = $'shared\t40'

# captions
ok 'info prints the number of captions and the most of one sample' is $'80\t2' texts a.tar
"$data" list a.tar | sed 1d | awk -F'\t' '$1 % 2 { print $7 "\ta " $1 }' >t.tsv
ok 'index --captions reads a table' "$data" index -o t.foil --captions t.tsv a.tar
ok 'the table of captions has half of the samples' is $'60\t2' texts t.foil
ok 'each caption of the table goes to the sample of that name' \
    test "$("$data" list t.foil | sed -n 5p | cut -f8)" = 'a 3'
ok 'captions change the digest' bash -c \
    "! diff <('$data' info a.tar | tail -1) <('$data' info t.foil | tail -1)"
"$data" list t.foil >list.tsv
ok 'index --captions reads the output of list' \
    "$data" index -o u.foil --captions list.tsv a.tar
ok 'captions from the output of list give the same digest' \
    is "$(value digest t.foil)" digest u.foil
printf '000003.jpg\n000001.jpg\tgood\nnone.jpg\tx\n' >odd.tsv
ok 'index --captions accepts a table with unused rows' bash -c \
    "'$data' index -o u.foil --captions odd.tsv a.tar 2>messages"
ok 'index reports a row without a caption' grep -q \
    "1 row of 'odd.tsv' without a caption (such as line 1): not used" messages
ok 'index reports a row without a sample' \
    grep -q 'name that no sample has (such as line 3)' messages
ok 'a table of captions that is a tar exits with 1' \
    refuses 1 "line 1 of 'b.tar' has a zero byte" \
    "$data" index -o u.foil --captions b.tar a.tar
ok 'a missing table of captions exits with 1' refuses 1 "'none.tsv'" \
    "$data" index -o u.foil --captions none.tsv a.tar
mkdir odd
tar xf a.tar -C odd 000000.jpg 000001.jpg 000002.jpg
printf 'caf\351\n' >odd/000000.txt
echo '{' >odd/000001.json
head -c 100000 /dev/zero | tr '\0' x >odd/000002.txt
ok 'index of captions with faults exits with 0' bash -c "'$data' index odd 2>messages"
ok 'index reports a caption that is cut' grep -q 'longer than 65536 bytes: 1 cut' messages
ok 'index reports a caption that is not UTF-8' \
    grep -q 'that are no UTF-8: 1, replaced by U+FFFD' messages
ok 'index reports captions that are not JSON' \
    grep -q 'no JSON objects: 1 not used' messages
ok 'index reports an image without a caption' \
    grep -q 'samples without a caption: 1 of 3' messages
ok 'index with faulty captions has all images' is 3 samples odd
rm -r odd odd.foil

# PNG and JPEG
mkdir -p forms/a forms/b
tar xf a.tar -C forms/a 000000.jpg
"$BIN/foil-augment" --sheet forms/b/1.png --rows 1 --columns 1 a.tar
ok 'index --decode of a folder of JPEG and PNG succeeds' "$data" index --decode forms
ok 'info counts one JPEG' is 1 jpeg forms
ok 'info counts one PNG' is 1 png forms
ok 'info counts no WebP' is 0 webp forms
ok 'cat prints the PNG' cmp forms/b/1.png <("$data" cat forms 1)
ok 'foil-augment reads JPEG and PNG' "$BIN/foil-augment" --sheet both.png --rows 2 \
    --columns 1 forms
head -c 200 forms/b/1.png >forms/b/2.png
ok 'index --decode of half a PNG exits with 1' \
    refuses 1 "'b/2.png' in 'forms': is damaged" \
    "$data" index --decode forms
"$data" index forms 2>/dev/null
ok 'sheet leaves a damaged image white and reports it' grep -q \
    "'half.png': 1 image left white, such as .*'b/2.png'.*: is damaged" \
    <("$data" sheet -o half.png forms <<<'0 1 2' 2>&1)
ok 'foil-augment --sheet leaves a damaged image white and reports it' \
    grep -q '1 image left white, such as .*b/2.png' \
    <("$BIN/foil-augment" --bad accept --sheet both.png forms 2>&1)
ok 'corrupt --sheet leaves damaged images white and reports them' \
    grep -q ' images left white, such as .*b/2.png' \
    <("$data" corrupt --sheet both.png forms 2>&1)
rm -r forms forms.foil
mkdir names
echo x >$'names/a\e[31m\nfoil-data: b.jpg'
ok 'control characters of a file name are not printed' refuses 1 \
    "^foil-data index: 'a.\[31m.foil-data: b.jpg' in 'names'" "$data" index names

# split
ok 'split writes two indexes' "$data" split --share .25 a.tar part.foil rest.foil
ok 'split --share .25 takes a quarter' is 10 samples part.foil
ok 'split writes the rest' is 30 samples rest.foil
ok 'split takes each sample once' bash -c "
    { '$data' list part.foil; '$data' list rest.foil; } | cut -f7 |
        grep jpg | sort | cmp - <('$data' list a.tar | cut -f7 | grep jpg)"
ok 'split -n writes an index' "$data" split -n 12 a.tar part.foil /dev/null
ok 'split -n takes that many samples' is 12 samples part.foil
ok 'split -n of all samples exits with 1' refuses 1 'has 40 samples: cannot take 40' \
    "$data" split -n 40 a.tar x y
ok 'split -n 1 writes an index' "$data" split -n 1 a.tar one.foil /dev/null
ok 'split with the same file for both parts exits with 2' \
    refuses 2 "PART and REST are both 'x'" \
    "$data" split -n 1 a.tar x x

# no output replaces an input
sum=$(cat a.tar a.tar.foil | cksum)
ok 'index -o on its data exits with 2' refuses 2 "'a.tar' exists and is no index" \
    "$data" index -o a.tar a.tar
ok 'split on its data exits with 2' refuses 2 "'./a.tar' is an input and would be overwritten" \
    "$data" split -n 1 a.tar ./a.tar /dev/null
ok 'longtail on the index of its data exits with 2' \
    refuses 2 "'a.tar.foil' is an input" \
    "$data" longtail -o a.tar.foil a.tar
ok 'corrupt -o on its data exits with 2' refuses 2 "'a.tar' is an input" \
    "$data" corrupt -k fog -o a.tar a.tar
ok 'corrupt --sheet on its data exits with 2' refuses 2 "'a.tar' is an input" \
    "$data" corrupt --sheet a.tar a.tar
ok 'sheet -o on its data exits with 2' refuses 2 "'a.tar' is an input" \
    bash -c "echo 1 2 | '$data' sheet -o a.tar a.tar"
ok 'foil-augment --sheet on its data exits with 2' refuses 2 "'a.tar' is an input" \
    "$BIN/foil-augment" --sheet a.tar a.tar
ok 'group -o on the index of its data exits with 2' \
    refuses 2 "'a.tar.foil' is an input" \
    "$data" group --by label -o a.tar.foil a.tar
ok 'vocabulary -o on the index of its data exits with 2' \
    refuses 2 "'a.tar.foil' is an input" \
    "$data" vocabulary -o a.tar.foil a.tar
ok 'refused outputs leave data and index as before' \
    test "$(cat a.tar a.tar.foil | cksum)" = "$sum"
ok 'split of a single sample exits with 1' refuses 1 'has 1 sample: cannot take 1' \
    "$data" split -n 1 one.foil x y
ok 'group of one sample makes one group' bash -c "'$data' group --by file -o one.npy \
    one.foil 2>&1 | grep ': 1 sample in 1 group, 0 of them'"
ok 'split with -n and --share exits with 2' \
    refuses 2 'not both' "$data" split -n 4 --share .5 a.tar x y
ok 'split --share 1 exits with 2' refuses 2 "want a number" \
    "$data" split --share 1 a.tar x y

# longtail
counts() {
    "$data" list "$1" | sed 1d | cut -f2 | sort -n | uniq -c |
        awk '{ print $1 }' | tr '\n' ' '
}
ok 'longtail writes an index' "$data" longtail --factor .2 -o tail.foil a.tar
ok 'longtail --factor .2 leaves a fifth of the last class' \
    test "$(counts tail.foil)" = '5 3 3 2 1 1 1 1 '
ok 'longtail leaves all 8 classes' is 8 classes tail.foil
ok 'longtail writes a second index' "$data" longtail --factor .2 -o again.foil a.tar
ok 'longtail with the same seed takes the same samples' \
    is "$(value digest tail.foil)" digest again.foil
ok 'longtail without -o exits with 2' \
    refuses 2 'name the index with -o' "$data" longtail a.tar
ok 'longtail to a full disk exits with 1' \
    refuses 1 'No space' "$data" longtail -o /dev/full a.tar

# corrupt
ok 'corrupt writes a tar' "$data" corrupt -k frost --severity 3 -o c.tar a.tar
ok 'corrupt writes a second tar' "$data" corrupt -k frost --severity 3 -o d.tar a.tar
ok 'corrupt with the same options writes the same bytes' cmp c.tar d.tar
ok 'corrupt writes a tar of another seed' \
    "$data" corrupt -s 2 -k frost --severity 3 -o d.tar a.tar
ok 'corrupt with another seed writes other bytes' exits 1 cmp -s c.tar d.tar
ok 'corrupt names files kind/severity/sample and adds label and captions' \
    test "$(tar tf c.tar | head -3 | tr '\n' ' ')" = \
    'frost/3/00000000.cls frost/3/00000000.jpg frost/3/00000000.txt '
"$data" index c.tar 2>/dev/null
ok 'corrupt keeps labels and captions' cmp <("$data" list a.tar | cut -f1-2,8) \
    <("$data" list c.tar | cut -f1-2,8)
mkdir -p word/ant word/bee
tar xf a.tar -C word/ant 000000.jpg
tar xf a.tar -C word/bee 000001.jpg 000002.jpg
"$data" index word 2>/dev/null
"$data" split -n 1 word ant.foil bee.foil
printf '%s\n' p$'\t'ant q$'\t'bee r$'\t'ant s >few.list
for name in p q r s; do
    "$data" cat a.tar 0 >$name
done
"$data" index few.list 2>/dev/null
ok 'classes prints the size of each class' test "$("$data" classes few.list | tail -n +2 |
    tr '\t\n' ' /')" = '0 2 ant/1 1 bee/-1 1 /'
ok 'corrupt keeps the names of classes' bash -c "
    '$data' corrupt -k fog -o fog.tar bee.foil && '$data' index fog.tar &&
    cmp <('$data' list bee.foil | cut -f3) <('$data' list fog.tar | cut -f3)"
"$data" split -n 3 a.tar three.foil /dev/null
ok 'corrupt -k all --severity 0 writes a tar' \
    "$data" corrupt -k all --severity 0 -o d.tar three.foil
ok 'corrupt -k all --severity 0 writes 95 folders of 3 images' \
    test "$(tar tf d.tar | grep -c jpg)" -eq 285
ok 'corrupt -k all writes a folder for each of 19 kinds' \
    test "$(tar tf d.tar | grep jpg | cut -d/ -f1 | sort -u |
    wc -l)" -eq 19
"$data" index d.tar 2>/dev/null
ok 'corrupt --sheet draws a sheet' "$data" corrupt --sheet sheet.png a.tar
# 10 rows of 96 pixels with 12 between them; below each a name in large letters
ok 'corrupt --sheet has the name of each kind' \
    test "$(od -An -tu1 -j20 -N4 sheet.png | xargs)" = \
    "0 0 4 $((10 * (96 + 12 + 18) + 12 - 1024))"
for names in class file; do
    "$data" sheet --names "$names" -o "$names.png" a.tar <<<'0 1 2'
done
ok 'sheet --names file draws other names than --names class' \
    exits 1 cmp class.png file.png
ok 'corrupt --sheet with -o exits with 2' refuses 2 'makes no tar: leave out -o' \
    "$data" corrupt --sheet sheet.png -o c.tar a.tar
ok 'an image above --max-pixels exits with 1 and names the option' refuses 1 \
    'claims 16x16 pixels, more than the 100 of --max-pixels' \
    "$data" index --max-pixels 100 -o small.foil a.tar
ok 'corrupt --sheet writes a PNG' bash -c "head -c 4 sheet.png | grep -q PNG"
ok 'corrupt without -k exits with 2' \
    refuses 2 'name the corruption' "$data" corrupt -o c.tar a.tar
ok 'corrupt with an unknown kind exits with 2' \
    refuses 2 "no corruption 'rust': want one of gauss" \
    "$data" corrupt -k rust -o c.tar a.tar
ok 'corrupt without -o exits with 2' \
    refuses 2 'name the tar with -o' "$data" corrupt -k fog a.tar
ok 'corrupt to a full disk exits with 1' refuses 1 'No space' \
    "$data" corrupt -k fog -o /dev/full a.tar

# group
"$data" index -o aa.foil a.tar a.tar 2>/dev/null
ok 'group --by duplicate of the same set twice succeeds' \
    "$data" group --by duplicate -o g.npy aa.foil
ok 'group --by duplicate finds all samples in pairs' \
    grep -q '80 samples in 40 groups, 80 of them in groups of two or more' \
    "$work/out"
ok 'group --by file of corrupted images succeeds' \
    "$data" group --by file -o g.npy d.tar.foil
ok 'group --by file joins the versions of an image' \
    grep -q '285 samples in 3 groups' "$work/out"
ok 'group --by label succeeds' "$data" group --by label -o g.npy a.tar
ok 'group --by label makes 8 groups' grep -q '40 samples in 8 groups' "$work/out"
ok 'group --by caption succeeds' "$data" group --by caption -o g.npy aa.foil
ok 'group writes a number for each sample' grep -aq "'<i8'.*'shape': (80,)" g.npy
ok 'group without --by exits with 2' \
    refuses 2 'in common with --by' "$data" group -o g.npy a.tar
ok 'group without -o exits with 2' refuses 2 'name the list of groups with -o' \
    "$data" group --by label a.tar
ok 'group to a full disk exits with 1' refuses 1 'No space' \
    "$data" group --by label -o /dev/full a.tar

# vocabulary
ok 'vocabulary writes a file' "$data" vocabulary -o v.txt a.tar
ok 'vocabulary reads the captions of 40 samples' \
    grep -q 'captions of 40 samples' "$work/out"
ok 'a vocabulary has a heading and a merge in each line' bash -c "head -1 v.txt |
    grep -qx '#version: 0.2' && ! sed 1d v.txt | grep -qvxE '[^ ]+ [^ ]+'"
ok 'whole words become tokens' grep -q 'un d</w>$' v.txt
ok 'vocabulary reads two sets' "$data" vocabulary -o both.txt a.tar ab.foil
ok 'vocabulary writes a second file' "$data" vocabulary -o w.txt a.tar
ok 'vocabulary of the same captions writes the same file' cmp v.txt w.txt
ok 'vocabulary --size 600 writes a file' "$data" vocabulary --size 600 -o w.txt a.tar
ok 'vocabulary --size 600 has the first merges' cmp w.txt <(head -87 v.txt)
ok 'vocabulary --min 5 writes a file' "$data" vocabulary --min 5 -o w.txt a.tar
ok 'vocabulary --min 5 has the first merges' cmp w.txt <(head -n "$(wc -l <w.txt)" v.txt)
ok 'vocabulary without -o exits with 2' \
    refuses 2 'name the vocabulary with -o' "$data" vocabulary a.tar
ok 'vocabulary --size 513 exits with 2' refuses 2 'want a whole number' \
    "$data" vocabulary --size 513 -o w.txt a.tar
ok 'vocabulary to a full disk exits with 1' \
    refuses 1 'No space' "$data" vocabulary -o /dev/full a.tar

# faults of data
ok 'info of a missing data set exits with 1' \
    refuses 1 "cannot open the data set 'no.tar'" "$data" info no.tar
mkdir bare
tar xf a.tar -C bare --wildcards '*.jpg'
"$data" index bare 2>/dev/null
ok 'vocabulary of data without captions exits with 1' refuses 1 "'bare' has no captions" \
    "$data" vocabulary -o w.txt bare
ok 'longtail of data without labels exits with 1' refuses 1 'has no labels' \
    "$data" longtail -o x.foil bare
ok 'info of data without an index exits with 1' \
    refuses 1 "'b.tar' has no index: make one" \
    "$data" info b.tar
mkdir empty
ok 'index of an empty folder exits with 1' \
    refuses 1 'there is no image' "$data" index empty
head -c 3000 a.tar >cut.tar
ok 'index of a truncated tar exits with 1' \
    refuses 1 "'cut.tar' is (damaged or )?cut off" \
    "$data" index cut.tar
ok 'index --bad skip reads the start of a truncated tar' "$data" index --bad skip cut.tar
gzip -k a.tar
ok 'index of a compressed tar exits with 1' \
    refuses 1 'is compressed.*gunzip' "$data" index a.tar.gz
mkdir -p tree/x tree/y
tar xf a.tar
cp 000000.jpg tree/x/0.jpg
cp 000001.jpg tree/y/1.jpg
printf "id,label\nx/0,frog\ny/1,bee\n" >ids.csv
ok 'a list of names without extensions exits with 1' \
    refuses 1 'paths of files, with their endings, such as .jpg' "$data" index ids.csv
echo 'no image' >tree/y/2.jpg
ok 'index of a file that is not a JPEG exits with 1' \
    refuses 1 "'y/2.jpg' in 'tree': is not a JPEG" \
    "$data" index tree
ok 'index --bad skip exits with 0' "$data" index --bad skip tree/
ok 'index --bad skip names the file' \
    grep -q "left out 'y/2.jpg': is not a JPEG" "$work/out"
ok 'index --bad skip leaves 2 samples' is 2 samples tree
ok 'an image above --max-pixels exits with 1' refuses 1 'claims 16x16 pixels' \
    "$data" index --max-pixels 255 a.tar
printf '\xff\xdc\xff\xdc' >huge # 65500 x 65500 into the frame header
frame=$(LC_ALL=C grep -abo -P '\xff\xc0\x00\x11\x08' 000000.jpg | cut -d: -f1)
mkdir bomb
cp 000000.jpg bomb/
dd if=huge of=bomb/000000.jpg bs=1 seek=$((frame + 5)) conv=notrunc 2>/dev/null
ok 'an image of 65500x65500 pixels exits with 1' \
    refuses 1 'claims 65500x65500 pixels' "$data" index bomb
head -c -20 000000.jpg >tree/y/2.jpg
ok 'index without --decode accepts a truncated JPEG' "$data" index tree
ok 'index --decode of a truncated JPEG exits with 1' \
    refuses 1 "'y/2.jpg'.*Premature end" \
    "$data" index --decode tree
printf 'tree/x/0.jpg\tfrog\ta frog\ntree/y/1.jpg\tbee\n' >some.list
ok 'index reads a list of files' "$data" index some.list
ok 'the list of files has 2 classes' is 2 classes some.list
if [[ $(id -u) -ne 0 ]]; then
    chmod 500 tree
    ok 'index in a read-only folder exits with 1' \
        refuses 1 '-o FILE puts the index elsewhere' \
        "$data" index tree/x
    chmod 700 tree
else
    skip 'index in a read-only folder' 'root writes everywhere'
fi

# links that dangle or form a circle, and skipped files
mkdir -p links/a links/b
cp 000000.jpg links/a/
ln -s nowhere links/a/x.jpg
ok 'index of a dangling link exits with 1 and names it' \
    refuses 1 "'a/x.jpg' in 'links': cannot be followed: No such file" \
    "$data" index links
ok 'the error about a dangling link names --bad skip' grep -q 'bad skip' refuses.err
ok 'index --bad skip leaves out a dangling link' "$data" index --bad skip links
ok 'index --bad skip names a dangling link' \
    grep -q "left out 'a/x.jpg': cannot be fol" "$work/out"
rm links/a/x.jpg
ln -s . links/loop
ok 'index of a circular link exits with 1 and names it' \
    refuses 1 "'loop' in 'links': is a link to a folder that it lies in" \
    "$data" index links
ok 'index --bad skip leaves out a circular link' "$data" index --bad skip links
ok 'index --bad skip takes the one image of the folder' is 1 samples links
rm links/loop
touch links/b/{1,2}.gif links/b/3.bmp links/readme
echo 'read me' >links/readme.txt
ok 'index of a folder with other files succeeds' bash -c "'$data' index links 2>skipped"
ok 'index counts images of other formats' grep -F \
    "3 images are not JPEG, PNG or WebP: skipped (.gif 2, .bmp 1; such as 'b/1.gif')" \
    skipped
ok 'index counts other files' grep -F \
    "2 files are no images: skipped (without an ending 1, .txt 1; such as 'readme" skipped
ok 'index prints the number of files with its parts' grep -F \
    '6 files: 1 image, 0 with captions or labels, 5 skipped, 0 left' skipped
ok 'index names a class that lost all its images' grep -F \
    "class 'b' has no sound image: left out" skipped
ok 'index of images of other formats only exits with 1' \
    refuses 1 'only images of other forms \(3, .*convert them to JPEG or PNG first' \
    "$data" index links/b

# an index that is out of date
ok 'info of a current index prints no message' \
    test -z "$("$data" info links 2>&1 >/dev/null)"
cp 000001.jpg links/a/
ok 'info reports new files of the folder' bash -c \
    "'$data' info links 2>&1 >/dev/null | grep -F 'links/a'"
ok 'info prints the command that updates the index' bash -c \
    "'$data' info links 2>&1 >/dev/null | grep -F \"run 'foil data index links'\""
ok 'an old index still has its samples' is 1 samples links
"$data" index links 2>/dev/null
ok 'index adds the new file' is 2 samples links
"$data" split -n 1 links one.foil two.foil
rm links/a/000000.jpg
ok 'info of a set with a deleted file exits with 1 and names it' \
    refuses 1 "links/a/000000.jpg' has gone .* run 'foil data index links'" \
    "$data" info links
ok 'foil-augment --bad accept reports a deleted file and continues' bash -c \
    "'$BIN/foil-augment' --max-bad 1 --bad accept --sheet stale.png links 2>&1 |
        grep -F \"links/a/000000.jpg' has gone\""
ok 'info of an outdated index of split asks to make it again' bash -c \
    "{ '$data' info one.foil; '$data' info two.foil; } 2>&1 |
        grep -F \"make the index 'one.foil' again\""

# stopped in the middle: no file is left
"$data" generate -o long.tar --size 64 1000000000 2>stopped &
becomes_true bash -c 'compgen -G "long.tar*" >/dev/null'
kill -TERM $!
ok 'generate exits with 1 after SIGTERM' exits 1 wait $!
ok 'generate reports that it was stopped' \
    grep -q 'foil-data generate: stopped: no file is written' stopped
ok 'generate leaves no file after SIGTERM' exits 1 bash -c 'compgen -G "long.tar*"'

# import
printf '\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\3abcdefghijkl' >i
printf '\0\0\10\1\0\0\0\2\1\0' >l
ok 'import idx writes a tar' "$data" import -o i.tar idx i l
ok 'import names files class/number.jpg' test "$(tar tf i.tar | tr '\n' ' ')" = \
    '1/00000.jpg 0/00001.jpg '
gzip -k i
ok 'import idx reads a gzipped file' "$data" import -o z.tar idx i.gz l
ok 'import idx of a gzipped file writes the same tar' cmp i.tar z.tar
ok 'import -n 1 writes a tar' "$data" import -o z.tar -n 1 idx i l
ok 'import -n 1 takes one image' test "$(tar tf z.tar | wc -l)" -eq 1
ok 'import --from 1 writes a tar' "$data" import -o z.tar --from 1 idx i l
ok 'import --from 1 leaves out one image' test "$(tar tf z.tar)" = 0/00000.jpg
ok 'import --from 2 of 2 images exits with 1' refuses 1 'no image to import' \
    "$data" import -o z.tar --from 2 idx i l
# as CIFAR-100-C: an array of 2 images, 2 x 2 x 3, and their labels
npy() {
    printf '\x93NUMPY\1\0\x48\0%-71s\n' \
        "{'descr': '|u1', 'fortran_order': False, 'shape': ($1), }"
}
{ npy '2, 2, 2, 3' && printf '%s' abcdefghijkl mnopqrstuvwx; } >fog.npy
{ npy '2, 2, 2, 3' && printf '%s' ABCDEFGHIJKL mnopqrstuvwx; } >frost.npy
{ npy '2,' && printf '\7\10'; } >labels.npy
ok 'import npy writes a tar' "$data" import -o f.tar npy fog.npy labels.npy
ok 'import npy of another corruption writes a tar' \
    "$data" import -o g.tar npy frost.npy labels.npy
ok 'index makes one set of two corruptions' "$data" index -o both.foil f.tar g.tar
ok 'group --by file finds the versions of an image' \
    bash -c "'$data' group --by file -o g.npy both.foil \
    2>&1 | grep '4 samples in 2 groups'"
ok 'import of an unknown format exits with 2' \
    refuses 2 'want one of idx' "$data" import -o z.tar svhn i
ok 'import idx of another file exits with 1' refuses 1 "'a.tar' is no idx file" \
    "$data" import -o z.tar idx a.tar
if [[ -d $fashion ]]; then
    ok 'import idx reads Fashion-MNIST' "$data" import -n 500 -o f.tar idx \
        $fashion/t10k-images-idx3-ubyte.gz $fashion/t10k-labels-idx1-ubyte.gz
    ok 'Fashion-MNIST is indexed' "$data" index --decode f.tar
    ok 'Fashion-MNIST has 10 classes' is 10 classes f.tar
else
    skip 'import idx reads Fashion-MNIST' 'no dataset-fashion-mnist'
fi

# real sets
if [[ -f $shared/data/tiny40-val.tar ]]; then
    ok 'index reads tiny40' "$data" index --decode -o t.foil "$shared/data/tiny40-val.tar"
    ok 'tiny40 has 40 classes' is 40 classes t.foil
    ok 'index reads fashion-it' "$data" index -o f.foil \
        "$shared"/data/fashion-it-train-00000{0..3}.tar
    ok 'fashion-it has 7427 captions' is 7427 captions f.foil
    ok 'index reads coco' "$data" index -o c.foil "$shared/data/coco-mini-000000.tar"
    ok 'coco has five captions for each image' bash -c "
        '$data' list c.foil | sed 1d | cut -f8 |
            awk -F '[\\\\\\\\]n' 'NF != 5 { bad++ } END { exit bad }'"
    ok 'index reads cifar10' "$data" index -o c10.foil "$shared/data/cifar10-test.tar"
    ok 'cifar10 has 10000 samples' is 10000 samples c10.foil
    ok 'longtail writes a long-tailed cifar10' "$data" longtail -o lt.foil c10.foil
    ok 'long-tailed cifar10 has a fifth of the published sizes' \
        test "$(counts lt.foil)" = \
        '1000 599 359 215 129 77 46 27 16 10 '
else
    skip 'real data sets' "no $shared/data"
fi

done_testing
