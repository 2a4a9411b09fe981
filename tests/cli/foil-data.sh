#!/usr/bin/env bash
# foil-data as a user meets it.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

data=$BIN/foil-data
fashion=/usr/share/datasets/fashion-mnist
cd "$work" || exit 1

# value KEY DATA : what foil-data info says of it
value() {
    "$data" info "$2" | sed -n "s/^$1\t//p"
}

# is WANT KEY DATA
is() {
    local got
    got=$(value "$2" "$3")
    test "$got" = "$1" || { echo "$2 is '$got', want '$1'"; return 1; }
}

common foil-data
ok 'no verb: 2' refuses 2 'wants a verb' "$data"
ok 'unknown verb: 2' refuses 2 "no verb 'pack'" "$data" pack
for verb in index import generate split longtail corrupt group vocabulary info \
    classes list cat sheet; do
    ok "$verb --help: 0" "$data" "$verb" --help
    ok "$verb without operands: 2" refuses 2 "foil-data $verb: wants" \
        "$data" "$verb"
done

# generate
ok 'generate' "$data" generate -o a.tar --size 16 40
ok 'generate, again' "$data" generate -o b.tar --size 16 40
ok 'the same options, the same bytes' cmp a.tar b.tar
ok 'another seed' "$data" generate -o b.tar --size 16 -s 2 40
ok 'other bytes' exits 1 cmp -s a.tar b.tar
ok 'no -o: 2' refuses 2 'name the tar with -o' "$data" generate 5
ok 'no count: 2' refuses 2 "COUNT 'x': want a whole number" \
    "$data" generate -o c.tar x
ok 'a full disk: 1' refuses 1 "cannot write '/dev/full': No space" \
    "$data" generate -o /dev/full 40
ok 'any tar can read it' test "$(tar tf a.tar | head -3 | tr '\n' ' ')" = \
    '000000.cls 000000.jpg 000000.txt '

ok 'one image is no images' bash -c "'$data' generate -o one.tar 1 2>&1 |
    grep \": 1 image\\$\""

# index, info, list
ok 'index' "$data" index a.tar
ok 'beside the data' test -s a.tar.foil
ok '40 samples' is 40 samples a.tar
ok '8 classes' is 8 classes a.tar
ok '40 captions' is 40 captions a.tar.foil
ok 'width' is $'16\t16' width a.tar
ok 'the digest stays what it is' \
    is "$(value digest a.tar.foil)" digest a.tar
ok 'list' bash -c "'$data' list a.tar >list"
ok 'a header and a line each' test "$(wc -l <list)" -eq 41
ok 'in columns' test "$(sed -n 3p list | cut -f1-3,5-7)" = \
    $'1\t1\t1\t16\t16\t000001.jpg'
ok 'captions in one cell' grep -qP 'on .* ground\\n\w+ ' list
ok 'list to a full disk: 1' exits 1 bash -c "'$data' list a.tar >/dev/full"
ok 'list to a reader that goes' bash -c \
    "'$data' list a.tar | head -1 | grep -q '^id'"
ok 'list --where' bash -c "'$data' list --where a.tar >where"
ok 'the same table with two columns more' cmp list <(cut -f1-8 where)
ok 'which are file and offset' test "$(sed -n 1p where | cut -f9-)" = \
    $'file\toffset'

# at ID : the bytes that --where says are those of a sample
at() {
    local bytes file offset
    IFS=$'\t' read -r bytes file offset < <(
        awk -F'\t' -v OFS='\t' -v id="$1" '$1 == id { print $4, $9, $10 }' where)
    tail -c +$((offset + 1)) "$file" | head -c "$bytes"
}
tar xf a.tar 000000.jpg 000039.jpg
ok 'the JPEG of the first sample lies there' cmp 000000.jpg <(at 0)
ok 'and that of the last' cmp 000039.jpg <(at 39)
ok 'cat prints the same' cmp 000039.jpg <("$data" cat a.tar 39)
ok 'cat of a sample that is not there: 2' \
    refuses 2 "ID '40': want a whole number in 0 .. 39" "$data" cat a.tar 40
ok 'cat to a full disk: 1' exits 1 bash -c "'$data' cat a.tar 0 >/dev/full"
mkdir own
cp 000039.jpg own/one.jpg
"$data" index own 2>/dev/null
ok 'a file of its own begins at 0' test \
    "$("$data" list --where own | sed 1d | cut -f9-)" = "$(realpath own/one.jpg)"$'\t0'
ok 'and cat prints it' cmp 000039.jpg <("$data" cat own 0)
cp 000000.jpg own/one.jpg
ok 'a sample that has changed is not printed: 1' \
    refuses 1 "'one.jpg' has changed since it was indexed" "$data" cat own 0

# lists
mkdir -p pets/cat pets/dog
tar xf a.tar -C pets/cat 000000.jpg 000001.jpg
tar xf a.tar -C pets/dog 000002.jpg
mv pets/dog/000002.jpg 'pets/dog/a, b.jpg'
ok 'folders that are classes themselves' bash -c \
    "'$data' index -o pets.foil pets/cat pets/dog 2>said"
ok 'have none inside, which is said' grep -q 'no sample has a label: ' said
printf '\xef\xbb\xbfsplit,label,filepath,title\r\ntrain,cat,cat/000000.jpg,"Ears, two"\r\n' \
    >pets/list.csv
printf 'test,"a ""dog""","dog/a, b.jpg",\r\n\r\n' >>pets/list.csv
ok 'a .csv with a heading' "$data" index -o csv.foil pets/list.csv
ok 'columns are known by name, cells may be in quotes' test \
    "$("$data" list csv.foil | sed 1d | cut -f2,3,7,8)" = \
    $'1\tcat\tcat/000000.jpg\tEars, two\n0\ta "dog"\tdog/a, b.jpg\t'
printf 'dog/a, b.jpg\tdog\ncat/000001.jpg\tcat\n' >pets/list.txt
ok 'a list with tabs' "$data" index -o tabs.foil pets/list.txt
ok 'needs no heading' test \
    "$("$data" list tabs.foil | sed 1d | cut -f2,3,7)" = \
    $'1\tdog\tdog/a, b.jpg\n0\tcat\tcat/000001.jpg'

printf 'Bild,Art,Jahr\ncat/000000.jpg,cat,1\ndog/none.jpg,,\n' >pets/list.csv
ok 'a heading that is not understood: 1' refuses 1 \
    'columns that are known: Bild, Art, Jahr; describe them, as in --columns' \
    "$data" index --bad skip -o csv.foil pets/list.csv
ok 'until somebody says what it means' bash -c "'$data' index --bad skip \
    --columns name=Bild,label=Art -o csv.foil pets/list.csv 2>said"
ok 'columns that are not used are named' grep -q 'not used: Jahr$' said
ok 'the last line says what there is' test "$(tail -n 1 said)" = \
    "foil-data index: 'csv.foil': 1 image, 1 class (cat)"
ok 'columns of nothing: 2' refuses 2 "want name, label or caption before the '='" \
    "$data" index --columns nme=x -o csv.foil pets/list.csv

printf '# of today\npath\tlabel\n#dog/x.jpg\tdog\ncat/000000.jpg\tcat\n' \
    >pets/list.txt
ok 'a list with comments' "$data" index -o tabs.foil pets/list.txt
ok 'does not have them as samples' is 1 samples tabs.foil
ok 'a list on standard input' bash -c \
    "cd pets && find . -name '*.jpg' | sort | '$data' index -o ../found.foil -"
ok 'is of the current folder, and found from elsewhere' test \
    "$("$data" list found.foil | sed 1d | cut -f7 | xargs -d '\n')" = \
    'cat/000000.jpg cat/000001.jpg dog/a, b.jpg'
ok 'has the folders as classes' is 2 classes found.foil
ok 'needs a name: 2' refuses 2 'name its index with -o FILE' \
    bash -c "'$data' index - </dev/null"
ok 'nothing in it: 1' refuses 1 'there is no' \
    bash -c "'$data' index -o none.foil - </dev/null"
ok 'another list, by spaces, is told what is between' refuses 1 \
    'between path and label a list has a tab' \
    bash -c "echo 'cat/000000.jpg cat' | '$data' index -o none.foil -"

ok 'two places need a name: 2' refuses 2 'name its index with -o' \
    "$data" index a.tar b.tar
ok 'two shards, one set' "$data" index -o ab.foil a.tar b.tar
ok '80 samples' is 80 samples ab.foil
ok 'indexes are no shards, for their labels differ: 1' refuses 1 \
    "'a.tar.foil' is an index: name its data" "$data" index -o c.foil a.tar.foil
cp a.tar.foil kept
ok 'a full disk: 1' refuses 1 'No space' "$data" index -o /dev/full a.tar
ok 'the old index stays' cmp a.tar.foil kept

"$data" index -o ba.foil b.tar a.tar
ok 'images that two sets share are counted' \
    test "$("$data" info a.tar ba.foil | tail -1)" = $'shared\t40'

# captions
ok '80 captions, 2 of a sample at most' is $'80\t2' texts a.tar
"$data" list a.tar | sed 1d | awk -F'\t' '$1 % 2 { print $7 "\ta " $1 }' >t.tsv
ok 'a table of captions' "$data" index -o t.foil --captions t.tsv a.tar
ok 'of half of the samples' is $'60\t2' texts t.foil
ok 'each goes to the sample of that name' \
    test "$("$data" list t.foil | sed -n 5p | cut -f8)" = 'a 3'
ok 'captions enter the digest' bash -c \
    "! diff <('$data' info a.tar | tail -1) <('$data' info t.foil | tail -1)"
"$data" list t.foil >list.tsv
ok 'a list is a table' "$data" index -o u.foil --captions list.tsv a.tar
ok 'and the set is the same again' is "$(value digest t.foil)" digest u.foil
printf '000003.jpg\n000001.jpg\tgood\nnone.jpg\tx\n' >odd.tsv
ok 'rows that are not used' bash -c \
    "'$data' index -o u.foil --captions odd.tsv a.tar 2>said"
ok 'without a caption' grep -q \
    "1 row of 'odd.tsv' without a caption (such as line 1): not used" said
ok 'of no sample' grep -q 'name that no sample has (such as line 3)' said
ok 'no row at all: 1' refuses 1 "line 1 of 'b.tar' has a zero byte" \
    "$data" index -o u.foil --captions b.tar a.tar
ok 'no table: 1' refuses 1 "'none.tsv'" \
    "$data" index -o u.foil --captions none.tsv a.tar
mkdir odd
tar xf a.tar -C odd 000000.jpg 000001.jpg 000002.jpg
printf 'caf\351\n' >odd/000000.txt
echo '{' >odd/000001.json
head -c 100000 /dev/zero | tr '\0' x >odd/000002.txt
ok 'captions with faults' bash -c "'$data' index odd 2>said"
ok 'one is cut' grep -q 'longer than 65536 bytes: 1 cut' said
ok 'one is no UTF-8' grep -q 'that are no UTF-8: 1, replaced by U+FFFD' said
ok 'one is no JSON' grep -q 'no JSON objects: 1 not used' said
ok 'one image has none' grep -q 'samples without a caption: 1 of 3' said
ok 'all images are there' is 3 samples odd
rm -r odd odd.foil

# PNG beside JPEG
mkdir -p forms/a forms/b
tar xf a.tar -C forms/a 000000.jpg
"$BIN/foil-augment" --sheet forms/b/1.png --rows 1 --columns 1 a.tar
ok 'a folder of JPEG and PNG' "$data" index --decode forms
ok 'one JPEG' is 1 jpeg forms
ok 'one PNG' is 1 png forms
ok 'no WebP' is 0 webp forms
ok 'the PNG can be had' cmp forms/b/1.png <("$data" cat forms 1)
ok 'and be augmented' "$BIN/foil-augment" --sheet both.png --rows 2 \
    --columns 1 forms
head -c 200 forms/b/1.png >forms/b/2.png
ok 'half a PNG: 1' refuses 1 "'b/2.png' in 'forms': is damaged" \
    "$data" index --decode forms
"$data" index forms 2>/dev/null
ok 'on a sheet it stays white, which is said' grep -q \
    "'half.png': 1 image left white, such as .*'b/2.png'.*: is damaged" \
    <("$data" sheet -o half.png forms <<<'0 1 2' 2>&1)
ok 'so it is on one of views' grep -q '1 image left white, such as .*b/2.png' \
    <("$BIN/foil-augment" --bad accept --sheet both.png forms 2>&1)
ok 'and of damage' grep -q ' images left white, such as .*b/2.png' \
    <("$data" corrupt --sheet both.png forms 2>&1)
rm -r forms forms.foil
mkdir names
echo x >$'names/a\e[31m\nfoil-data: b.jpg'
ok 'a name makes no second line, and moves nothing on a terminal' refuses 1 \
    "^foil-data index: 'a.\[31m.foil-data: b.jpg' in 'names'" "$data" index names

# split
ok 'split' "$data" split --share .25 a.tar part.foil rest.foil
ok 'a quarter' is 10 samples part.foil
ok 'and the rest' is 30 samples rest.foil
ok 'each once' bash -c "
    { '$data' list part.foil; '$data' list rest.foil; } | cut -f7 |
        grep jpg | sort | cmp - <('$data' list a.tar | cut -f7 | grep jpg)"
ok 'a count instead' "$data" split -n 12 a.tar part.foil /dev/null
ok 'is that' is 12 samples part.foil
ok 'too many: 1' refuses 1 'has 40 samples: cannot take 40' \
    "$data" split -n 40 a.tar x y
ok 'one of all' "$data" split -n 1 a.tar one.foil /dev/null
ok 'one file for both: 2' refuses 2 "PART and REST are both 'x'" \
    "$data" split -n 1 a.tar x x

# what is read is not written over
sum=$(cat a.tar a.tar.foil | cksum)
ok 'no index in place of its data: 2' refuses 2 "'a.tar' exists and is no index" \
    "$data" index -o a.tar a.tar
ok 'of a part of them: 2' refuses 2 "'./a.tar' is read from: it would be lost" \
    "$data" split -n 1 a.tar ./a.tar /dev/null
ok 'or in place of the index of all: 2' refuses 2 "'a.tar.foil' is read from" \
    "$data" longtail -o a.tar.foil a.tar
ok 'no damaged images: 2' refuses 2 "'a.tar' is read from" \
    "$data" corrupt -k fog -o a.tar a.tar
ok 'nor a sheet of them: 2' refuses 2 "'a.tar' is read from" \
    "$data" corrupt --sheet a.tar a.tar
ok 'of lists: 2' refuses 2 "'a.tar' is read from" \
    bash -c "echo 1 2 | '$data' sheet -o a.tar a.tar"
ok 'or of views: 2' refuses 2 "'a.tar' is read from" \
    "$BIN/foil-augment" --sheet a.tar a.tar
ok 'no groups: 2' refuses 2 "'a.tar.foil' is read from" \
    "$data" group --by label -o a.tar.foil a.tar
ok 'no vocabulary: 2' refuses 2 "'a.tar.foil' is read from" \
    "$data" vocabulary -o a.tar.foil a.tar
ok 'all is as it was' test "$(cat a.tar a.tar.foil | cksum)" = "$sum"
ok 'which are no more' refuses 1 'has 1 sample: cannot take 1' \
    "$data" split -n 1 one.foil x y
ok 'one sample is one group' bash -c "'$data' group --by file -o one.npy \
    one.foil 2>&1 | grep ': 1 sample in 1 group, 0 of them'"
ok 'both: 2' refuses 2 'not both' "$data" split -n 4 --share .5 a.tar x y
ok 'share 1 is no share: 2' refuses 2 "want a number" \
    "$data" split --share 1 a.tar x y

# longtail
counts() {
    "$data" list "$1" | sed 1d | cut -f2 | sort -n | uniq -c |
        awk '{ print $1 }' | tr '\n' ' '
}
ok 'longtail' "$data" longtail --factor .2 -o tail.foil a.tar
ok '8 classes, the last with a fifth' \
    test "$(counts tail.foil)" = '5 3 3 2 1 1 1 1 '
ok 'all 8 classes stay' is 8 classes tail.foil
ok 'all 8 classes stay, again' "$data" longtail --factor .2 -o again.foil a.tar
ok 'the same seed, the same samples' \
    is "$(value digest tail.foil)" digest again.foil
ok 'no -o: 2' refuses 2 'name the index with -o' "$data" longtail a.tar
ok 'a full disk: 1' refuses 1 'No space' "$data" longtail -o /dev/full a.tar

# corrupt
ok 'corrupt' "$data" corrupt -k frost --severity 3 -o c.tar a.tar
ok 'corrupt, again' "$data" corrupt -k frost --severity 3 -o d.tar a.tar
ok 'the same options, the same bytes' cmp c.tar d.tar
ok 'another seed' "$data" corrupt -s 2 -k frost --severity 3 -o d.tar a.tar
ok 'other bytes' exits 1 cmp -s c.tar d.tar
ok 'kind/severity/sample, label and captions' \
    test "$(tar tf c.tar | head -3 | tr '\n' ' ')" = \
    'frost/3/00000000.cls frost/3/00000000.jpg frost/3/00000000.txt '
"$data" index c.tar 2>/dev/null
ok 'labels and captions stay' cmp <("$data" list a.tar | cut -f1-2,8) \
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
ok 'classes have their sizes' test "$("$data" classes few.list | tail -n +2 |
    tr '\t\n' ' /')" = '0 2 ant/1 1 bee/-1 1 /'
ok 'damaged images keep the names of their classes' bash -c "
    '$data' corrupt -k fog -o fog.tar bee.foil && '$data' index fog.tar &&
    cmp <('$data' list bee.foil | cut -f3) <('$data' list fog.tar | cut -f3)"
"$data" split -n 3 a.tar three.foil /dev/null
ok 'all kinds, all severities' \
    "$data" corrupt -k all --severity 0 -o d.tar three.foil
ok '95 folders of 3' test "$(tar tf d.tar | grep -c jpg)" -eq 285
ok 'by name' test "$(tar tf d.tar | grep jpg | cut -d/ -f1 | sort -u |
    wc -l)" -eq 19
"$data" index d.tar 2>/dev/null
ok 'a sheet' "$data" corrupt --sheet sheet.png a.tar
# 10 rows of 96 pixels, 12 between them, and below each a name in large letters
ok 'with the name of each kind' test "$(od -An -tu1 -j20 -N4 sheet.png | xargs)" = \
    "0 0 4 $((10 * (96 + 12 + 18) + 12 - 1024))"
for names in class file; do
    "$data" sheet --names "$names" -o "$names.png" a.tar <<<'0 1 2'
done
ok 'names of files below images are not those of classes' exits 1 cmp class.png file.png
ok 'and no tar: 2' refuses 2 'makes no tar: leave out -o' \
    "$data" corrupt --sheet sheet.png -o c.tar a.tar
ok 'an image that is too large says by which option' refuses 1 \
    'claims 16x16 pixels, more than the 100 of --max-pixels' \
    "$data" index --max-pixels 100 -o small.foil a.tar
ok 'is a PNG' bash -c "head -c 4 sheet.png | grep -q PNG"
ok 'no kind: 2' refuses 2 'name the corruption' "$data" corrupt -o c.tar a.tar
ok 'an unknown kind: 2' refuses 2 "no corruption 'rust': want one of gauss" \
    "$data" corrupt -k rust -o c.tar a.tar
ok 'no -o: 2' refuses 2 'name the tar with -o' "$data" corrupt -k fog a.tar
ok 'a full disk: 1' refuses 1 'No space' \
    "$data" corrupt -k fog -o /dev/full a.tar

# group
"$data" index -o aa.foil a.tar a.tar 2>/dev/null
ok 'twice the same set' "$data" group --by duplicate -o g.npy aa.foil
ok 'nobody is alone' grep -q '80 samples in 40 groups, 80 of them in groups of two or more' \
    "$work/out"
ok 'by file' "$data" group --by file -o g.npy d.tar.foil
ok 'as many versions' grep -q '285 samples in 3 groups' "$work/out"
ok 'by label' "$data" group --by label -o g.npy a.tar
ok '8 classes' grep -q '40 samples in 8 groups' "$work/out"
ok 'by caption' "$data" group --by caption -o g.npy aa.foil
ok 'a number for each' grep -aq "'<i8'.*'shape': (80,)" g.npy
ok 'no --by: 2' refuses 2 'in common with --by' "$data" group -o g.npy a.tar
ok 'no -o: 2' refuses 2 'name the list of groups with -o' \
    "$data" group --by label a.tar
ok 'a full disk: 1' refuses 1 'No space' \
    "$data" group --by label -o /dev/full a.tar

# vocabulary
ok 'vocabulary' "$data" vocabulary -o v.txt a.tar
ok 'of the captions of 40 samples' grep -q 'captions of 40 samples' "$work/out"
ok 'with a heading and a merge a line' bash -c "head -1 v.txt |
    grep -qx '#version: 0.2' && ! sed 1d v.txt | grep -qvxE '[^ ]+ [^ ]+'"
ok 'whole words become tokens' grep -q 'un d</w>$' v.txt
ok 'of both sets' "$data" vocabulary -o both.txt a.tar ab.foil
ok 'the same captions again' "$data" vocabulary -o w.txt a.tar
ok 'the same file' cmp v.txt w.txt
ok 'of 600 tokens' "$data" vocabulary --size 600 -o w.txt a.tar
ok 'are the first of them' cmp w.txt <(head -87 v.txt)
ok 'a fifth time at least' "$data" vocabulary --min 5 -o w.txt a.tar
ok 'are the first, too' cmp w.txt <(head -n "$(wc -l <w.txt)" v.txt)
ok 'no -o: 2' refuses 2 'name the vocabulary with -o' "$data" vocabulary a.tar
ok 'too few tokens: 2' refuses 2 'want a whole number' \
    "$data" vocabulary --size 513 -o w.txt a.tar
ok 'a full disk: 1' refuses 1 'No space' "$data" vocabulary -o /dev/full a.tar

# what may be wrong with data
ok 'missing: 1' refuses 1 "cannot open the data set 'no.tar'" "$data" info no.tar
mkdir bare
tar xf a.tar -C bare --wildcards '*.jpg'
"$data" index bare 2>/dev/null
ok 'vocabulary without captions: 1' refuses 1 "'bare' has no captions" \
    "$data" vocabulary -o w.txt bare
ok 'longtail without labels: 1' refuses 1 'has no labels' \
    "$data" longtail -o x.foil bare
ok 'not indexed: 1' refuses 1 "'b.tar' has no index: make one" \
    "$data" info b.tar
mkdir empty
ok 'empty: 1' refuses 1 'there is no image' "$data" index empty
head -c 3000 a.tar >cut.tar
ok 'truncated: 1' refuses 1 "'cut.tar' is (damaged or )?cut off" \
    "$data" index cut.tar
ok 'its sound part can be had' "$data" index --bad skip cut.tar
gzip -k a.tar
ok 'compressed: 1' refuses 1 'is compressed.*gunzip' "$data" index a.tar.gz
mkdir -p tree/x tree/y
tar xf a.tar
cp 000000.jpg tree/x/0.jpg
cp 000001.jpg tree/y/1.jpg
printf "id,label\nx/0,frog\ny/1,bee\n" >ids.csv
ok 'a list of names without endings: 1' \
    refuses 1 'paths of files, with their endings, such as .jpg' "$data" index ids.csv
echo 'no image' >tree/y/2.jpg
ok 'not a JPEG: 1' refuses 1 "'y/2.jpg' in 'tree': is not a JPEG" \
    "$data" index tree
ok '--bad skip: 0' "$data" index --bad skip tree/
ok 'says which' grep -q "left out 'y/2.jpg': is not a JPEG" "$work/out"
ok '2 are left' is 2 samples tree
ok 'more pixels than allowed: 1' refuses 1 'claims 16x16 pixels' \
    "$data" index --max-pixels 255 a.tar
printf '\xff\xdc\xff\xdc' >huge # 65500 x 65500 into the frame header
frame=$(LC_ALL=C grep -abo -P '\xff\xc0\x00\x11\x08' 000000.jpg | cut -d: -f1)
mkdir bomb
cp 000000.jpg bomb/
dd if=huge of=bomb/000000.jpg bs=1 seek=$((frame + 5)) conv=notrunc 2>/dev/null
ok 'a bomb: 1' refuses 1 'claims 65500x65500 pixels' "$data" index bomb
head -c -20 000000.jpg >tree/y/2.jpg
ok 'a cut JPEG has a sound header' "$data" index tree
ok '--decode finds it: 1' refuses 1 "'y/2.jpg'.*Premature end" \
    "$data" index --decode tree
printf 'tree/x/0.jpg\tfrog\ta frog\ntree/y/1.jpg\tbee\n' >some.list
ok 'a file list' "$data" index some.list
ok 'has 2 classes' is 2 classes some.list
if [[ $(id -u) -ne 0 ]]; then
    chmod 500 tree
    ok 'a read-only folder: 1' refuses 1 '-o FILE puts the index elsewhere' \
        "$data" index tree/x
    chmod 700 tree
else
    skip 'a read-only folder' 'root writes everywhere'
fi

# links that lead nowhere or back, and what is skipped
mkdir -p links/a links/b
cp 000000.jpg links/a/
ln -s nowhere links/a/x.jpg
ok 'a dangling link is refused by name: 1' \
    refuses 1 "'a/x.jpg' in 'links': cannot be followed: No such file" \
    "$data" index links
ok 'the refusal says how to leave it out' grep -q 'bad skip' refuses.err
ok 'a dangling link is left out' "$data" index --bad skip links
ok 'that link is named' grep -q "left out 'a/x.jpg': cannot be fol" "$work/out"
rm links/a/x.jpg
ln -s . links/loop
ok 'a link in a circle is refused by name: 1' \
    refuses 1 "'loop' in 'links': is a link to a folder that it lies in" \
    "$data" index links
ok 'a link in a circle is left out' "$data" index --bad skip links
ok 'one image of the folder is taken' is 1 samples links
rm links/loop
touch links/b/{1,2}.gif links/b/3.bmp links/readme
echo 'read me' >links/readme.txt
ok 'a folder with other files is indexed' bash -c "'$data' index links 2>skipped"
ok 'images of other forms are counted' grep -F \
    "3 images are not JPEG, PNG or WebP: skipped (.gif 2, .bmp 1; such as 'b/1.gif')" \
    skipped
ok 'other files are counted apart' grep -F \
    "2 files are no images: skipped (without an ending 1, .txt 1; such as 'readme" skipped
ok 'and all files add up' grep -F \
    '6 files: 1 image, 0 with captions or labels, 5 skipped, 0 left' skipped
ok 'a class that lost all its images is named' grep -F \
    "class 'b' has no sound image: left out" skipped
ok 'a folder of other images says what is there and wanted: 1' \
    refuses 1 'only images of other forms \(3, .*convert them to JPEG or PNG first' \
    "$data" index links/b

# an index that is out of date
ok 'a fresh index is taken without a word' test -z "$("$data" info links 2>&1 >/dev/null)"
cp 000001.jpg links/a/
ok 'files that have come are said' bash -c \
    "'$data' info links 2>&1 >/dev/null | grep -F 'links/a'"
ok 'with the command that mends it' bash -c \
    "'$data' info links 2>&1 >/dev/null | grep -F \"run 'foil data index links'\""
ok 'and the old samples are there' is 1 samples links
"$data" index links 2>/dev/null
ok 'that command mends it' is 2 samples links
"$data" split -n 1 links one.foil two.foil
rm links/a/000000.jpg
ok 'a file that has gone is refused by name: 1' \
    refuses 1 "links/a/000000.jpg' has gone .* run 'foil data index links'" \
    "$data" info links
ok 'an augmenter says it and does without that file' bash -c \
    "'$BIN/foil-augment' --max-bad 1 --bad accept --sheet stale.png links 2>&1 |
        grep -F \"links/a/000000.jpg' has gone\""
ok 'an index made another way is to be made again' bash -c \
    "{ '$data' info one.foil; '$data' info two.foil; } 2>&1 |
        grep -F \"make the index 'one.foil' again\""

# stopped in the middle: nothing is left
"$data" generate -o long.tar --size 64 1000000000 2>stopped &
becomes_true bash -c 'compgen -G "long.tar*" >/dev/null'
kill -TERM $!
ok 'SIGTERM: 1' exits 1 wait $!
ok 'says so' grep -q 'foil-data generate: stopped: no file is written' stopped
ok 'leaves nothing' exits 1 bash -c 'compgen -G "long.tar*"'

# import
printf '\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\3abcdefghijkl' >i
printf '\0\0\10\1\0\0\0\2\1\0' >l
ok 'import idx' "$data" import -o i.tar idx i l
ok 'class/number.jpg' test "$(tar tf i.tar | tr '\n' ' ')" = \
    '1/00000.jpg 0/00001.jpg '
gzip -k i
ok 'gzipped' "$data" import -o z.tar idx i.gz l
ok 'gives the same' cmp i.tar z.tar
ok '--limit' "$data" import -o z.tar -n 1 idx i l
ok 'takes one' test "$(tar tf z.tar | wc -l)" -eq 1
ok '--from' "$data" import -o z.tar --from 1 idx i l
ok 'leaves one out' test "$(tar tf z.tar)" = 0/00000.jpg
ok 'all left out: 1' refuses 1 'no image to import' \
    "$data" import -o z.tar --from 2 idx i l
# as CIFAR-100-C: an array of 2 images, 2 x 2 x 3, and their labels
npy() {
    printf '\x93NUMPY\1\0\x48\0%-71s\n' \
        "{'descr': '|u1', 'fortran_order': False, 'shape': ($1), }"
}
{ npy '2, 2, 2, 3' && printf '%s' abcdefghijkl mnopqrstuvwx; } >fog.npy
{ npy '2, 2, 2, 3' && printf '%s' ABCDEFGHIJKL mnopqrstuvwx; } >frost.npy
{ npy '2,' && printf '\7\10'; } >labels.npy
ok 'import npy' "$data" import -o f.tar npy fog.npy labels.npy
ok 'another corruption' "$data" import -o g.tar npy frost.npy labels.npy
ok 'one set of both' "$data" index -o both.foil f.tar g.tar
ok 'has the versions of an image' bash -c "'$data' group --by file -o g.npy both.foil \
    2>&1 | grep '4 samples in 2 groups'"
ok 'unknown form: 2' refuses 2 'want one of idx' "$data" import -o z.tar svhn i
ok 'no idx file: 1' refuses 1 "'a.tar' is no idx file" \
    "$data" import -o z.tar idx a.tar
if [[ -d $fashion ]]; then
    ok 'Fashion-MNIST' "$data" import -n 500 -o f.tar idx \
        $fashion/t10k-images-idx3-ubyte.gz $fashion/t10k-labels-idx1-ubyte.gz
    ok 'is indexed' "$data" index --decode f.tar
    ok '10 classes' is 10 classes f.tar
else
    skip 'Fashion-MNIST' 'no dataset-fashion-mnist'
fi

# real sets
if [[ -f $shared/data/tiny40-val.tar ]]; then
    ok 'tiny40' "$data" index --decode -o t.foil "$shared/data/tiny40-val.tar"
    ok '40 classes' is 40 classes t.foil
    ok 'fashion-it' "$data" index -o f.foil \
        "$shared"/data/fashion-it-train-00000{0..3}.tar
    ok '7427 captions' is 7427 captions f.foil
    ok 'coco' "$data" index -o c.foil "$shared/data/coco-mini-000000.tar"
    ok 'five captions each' bash -c "
        '$data' list c.foil | sed 1d | cut -f8 |
            awk -F '[\\\\\\\\]n' 'NF != 5 { bad++ } END { exit bad }'"
    ok 'cifar10' "$data" index -o c10.foil "$shared/data/cifar10-test.tar"
    ok '10000 samples' is 10000 samples c10.foil
    ok 'cifar10 long-tailed' "$data" longtail -o lt.foil c10.foil
    ok 'a fifth of what 50000 give' test "$(counts lt.foil)" = \
        '1000 599 359 215 129 77 46 27 16 10 '
else
    skip 'real sets' "no $shared/data"
fi

done_testing
