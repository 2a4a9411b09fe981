#!/usr/bin/env bash
# foil-embed as a user meets it.  NPM is where scripts/try-npm has put DuckDB.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
embed=$BIN/foil-embed
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
"$BIN/foil-data" generate -o set.tar --size 16 40 2>/dev/null
test -e set.tar.foil || "$BIN/foil-data" index set.tar 2>/dev/null

common foil-embed --raw set.tar
ok 'raw pixels' "$embed" --raw --size 8 -o x.npy set.tar
ok 'a row for each image: 40 x 8 x 8 x 3' grep -aq "'shape': (40, 192)" x.npy
ok 'its ids' grep -aq "'shape': (40,)" x.ids.npy
ok 'its labels' grep -aq "'shape': (40,)" x.labels.npy
ok 'the names of its classes, a line each' \
    cmp x.classes <(printf '%s\n' 0 1 2 3 4 5 6 7)
ok 'how it was made' grep -q \
    '"digest":"[0-9a-f]\{32\}","size":40},"encoder":null.*"image_size":8' x.json
ok 'foil-eval reads it' "$BIN/foil-eval" knn -k 1 x.npy
ok 'twice: the same' "$embed" --raw --size 8 -b 7 -o y.npy set.tar
ok 'to the bit, in other batches' cmp x.npy y.npy
ok 'random views' "$embed" --raw --recipe cifar --size 8 -o v0.npy set.tar
ok 'and others' "$embed" --raw --recipe cifar --size 8 --view 1 -o v1.npy set.tar
ok 'are not the same' exits 1 cmp -s v0.npy v1.npy
ok 'a field as it was' "$embed" --raw --recipe cifar,hue=0.1 --size 8 \
    -o same.npy set.tar
ok 'changes nothing' cmp v0.npy same.npy
ok 'is told as it was given' grep -q '"view":"cifar,hue=0.1"' same.json
ok 'another one' "$embed" --raw --recipe cifar,hue=0 --size 8 -o w0.npy set.tar
ok 'changes the views' exits 1 cmp -s v0.npy w0.npy
ok 'foil-eval finds their alignment' bash -c \
    "'$BIN/foil-eval' geometry v0.npy v1.npy | grep -q '\"alignment\":0.[0-9]'"

data=set.tar # runs of two steps
augment_with=(--size 16) select_with=(--batch 20 --epochs 1)
train_with=(--arch mlp,hidden=12)
ok 'an encoder is trained' trained run --head 5
ok 'its features' "$embed" --threads 1 -o h.npy run set.tar
ok 'no encoder of texts: 1' refuses 1 'text' \
    "$embed" --captions -o c.npy run set.tar
ok '12 wide' grep -aq "'shape': (40, 12)" h.npy
ok 'the encoder and its digest' grep -q \
    '"arch":"mlp".*"checkpoint":"run/step-.*"manifest":"[0-9a-f]\{32\}"' h.json
ok 'the same in other batches' "$embed" --threads 1 -b 9 -o h9.npy run set.tar
ok 'to a millionth of the largest' /usr/bin/python3 - <<'END'
import array
a, b = (array.array('f', open(x, 'rb').read()[128:]) for x in ('h.npy', 'h9.npy'))
off = max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, a))
print(len(a), off)
raise SystemExit(len(a) != 480 or off > 1e-6)
END
ok 'embeddings' "$embed" --layer z -o e.npy run/latest set.tar
ok '5 wide' grep -aq "'shape': (40, 5)" e.npy
ok 'untrained' "$embed" --threads 1 --untrained -o u.npy run set.tar
ok 'is another' exits 1 cmp -s h.npy u.npy
ok 'by each seed' "$embed" --threads 1 --untrained -s 1 -o u1.npy run set.tar
ok 'yet another' exits 1 cmp -s u.npy u1.npy
ok 'another image size: 1' refuses 1 'shape' \
    "$embed" --size 24 -o z.npy run set.tar
echo >>run/latest/model.safetensors
ok 'a damaged checkpoint: 1' refuses 1 'model.safetensors' \
    "$embed" -o z.npy run set.tar

ok 'no file to write: 2' refuses 2 'wants a file' "$embed" --raw set.tar
ok 'no checkpoint: 2' refuses 2 'wants CHECKPOINT' "$embed" -o z.npy set.tar
ok 'a checkpoint of raw pixels: 2' refuses 2 'wants CHECKPOINT' \
    "$embed" --raw -o z.npy run set.tar
ok 'no such checkpoint: 1' refuses 1 nowhere "$embed" -o z.npy nowhere set.tar
ok 'no such data: 1' refuses 1 "no.tar" "$embed" --raw -o z.npy no.tar
ok 'a view of no recipe: 2' refuses 2 '--view 1 is a random view: add --recipe' \
    "$embed" --raw --size 8 --view 1 -o z.npy set.tar
ok 'no such recipe: 2' refuses 2 "no recipe 'soup': there are cifar" \
    "$embed" --raw --recipe soup -o z.npy set.tar
ok 'no such field: 2' refuses 2 "no field 'salt': there are scale-min" \
    "$embed" --raw --recipe cifar,salt=1 -o z.npy set.tar
printf '%s\n' "$PWD/1.jpg" >list.csv
"$BIN/foil-data" cat set.tar 0 >1.jpg
"$BIN/foil-data" index list.csv
ok 'no features in place of a list of data: 2' refuses 2 \
    "'list.csv' is read from: it would be lost" \
    "$embed" --raw -o list.csv list.csv
ok 'no place to write: 1' refuses 1 'no/z' "$embed" --raw -o no/z.npy set.tar

# Large views take long enough to be interrupted once a thread waits for that,
# and all others block it.  Up to exec the process is a bash, with its own ways.
awaits_term() {
    local mask
    grep -qx 'Name:.foil-embed' "/proc/$1/status" || return
    mask=$(awk '/^SigBlk/ { print $2 }' "/proc/$1/status")
    (((0x$mask >> 14) & 1))
}
"$embed" --raw --recipe imagenet --size 1024 -b 4 -o w.npy set.tar 2>said &
pid=$!
becomes_true awaits_term "$pid"
kill -TERM "$pid"
ok 'SIGTERM: 1' exits 1 wait "$pid"
ok 'says so' grep -q 'stopped: no file is written' said
ok 'writes nothing' test ! -e w.npy

# a file of a folder that has gone
mkdir -p gone/a
tar xf set.tar -C gone/a --wildcards '*.jpg'
"$BIN/foil-data" index gone 2>/dev/null
rm gone/a/000007.jpg
ok 'a file that has gone is refused at once: 1' \
    refuses 1 "gone/a/000007.jpg' has gone .* run 'foil data index gone'" \
    "$embed" --raw --size 8 -o z.npy gone
ok 'such a file can be left out' "$embed" --raw --bad skip --size 8 -o z.npy gone
ok 'one row less than images' grep -aq "'shape': (39, 192)" z.npy
rm z.*

# damage one image: past its header, so that only the digest can tell
size=$(stat -c %s set.tar)
cp set.tar bad.tar
printf 'damage' | dd of=bad.tar bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
mv set.tar good.tar && mv bad.tar set.tar
ok 'a damaged image: 1' refuses 1 'has changed since .*--bad skip' \
    "$embed" --raw -o z.npy set.tar
ok 'nothing was written' test ! -e z.npy
ok 'or left out' "$embed" --raw --bad skip --size 8 -o z.npy set.tar
ok 'and said so' grep -q 'bad images, left out: 1 of 40' out
ok 'one row less' grep -aq "'shape': (39, 192)" z.npy
# texts, by two encoders after a step: 40 images, every other with a second
# caption, one of which is written otherwise but is the same text
"$BIN/foil-data" generate -o pics.tar --size 16 40 2>/dev/null
"$BIN/foil-data" index pics.tar 2>/dev/null
"$BIN/foil-data" list pics.tar | awk -F'\t' 'NR > 1 {
    print $7 "\ta " $1 % 8 " shape"
    if ($1 % 2 == 0)
        print $7 "\tA  " $1 % 8 " SHAPE"
}' >told.tsv
"$BIN/foil-data" index -o told.foil --captions told.tsv pics.tar 2>/dev/null
ok 'a vocabulary' "$BIN/foil-data" vocabulary -o merges.txt told.foil
data=told.foil
augment_with+=(-v 1 --vocabulary merges.txt)
train_with+=(--text bow:8 --vocabulary merges.txt --embed 6)
ok 'images and captions are trained' trained pairs --objective clip
ok 'their captions' "$embed" --captions -o c.npy pairs told.foil
ok 'a row for each, 6 wide' grep -aq "'shape': (60, 6)" c.npy
ok 'the samples, and which are equal' /usr/bin/python3 - <<'END'
import numpy as np
ids, same, x = (np.load("c%s.npy" % end) for end in (".ids", ".same", ""))
owners = [i for i in range(40) for _ in range(1 + (i % 2 == 0))]
assert ids.tolist() == owners
words = [i % 8 for i in owners]
for a in range(60):
    for b in range(60):
        equal = words[a] == words[b]
        assert (same[a] == same[b]) == equal
        assert (x[a] == x[b]).all() == equal
END
ok 'in other batches the same, to rounding' "$embed" --captions -b 3 -o d.npy \
    pairs told.foil
ok 'images in the same space' "$embed" --layer z -o i.npy pairs told.foil
ok 'foil-eval retrieves' "$BIN/foil-eval" retrieve --captions i.npy c.npy
ok 'lines' "$embed" --lines told.tsv -o l.npy pairs
ok 'a row for each line' grep -aq "'shape': (60, 6)" l.npy
printf '%s\n' cat dog >names
printf 'one {} only\n' >templates
ok 'classes' "$embed" --classes names --templates templates -o n.npy pairs
ok 'are the unit rows of their lines' /usr/bin/python3 - "$embed" <<'END'
import subprocess, sys
import numpy as np
open("lines", "w").write("one cat only\none dog only\n")
subprocess.check_call([sys.argv[1], "--lines", "lines", "-o", "m.npy", "pairs"])
m, n = np.load("m.npy"), np.load("n.npy")
assert np.allclose(m / np.linalg.norm(m, axis=1, keepdims=True), n, atol=1e-6)
END
printf 'n01\tcat\nn02\tdog\r\n' >codes
ok 'classes by their codes' "$embed" --classes codes --templates templates \
    -o k.npy pairs
ok 'have the rows of their words' cmp k.npy n.npy
ok 'and are called by the codes' bash -c "printf 'n01\nn02\n' | cmp - k.classes"
printf 'n01\tcat\nn01\tdog\n' >codes
ok 'two classes of one code: 1' refuses 1 "'codes': two classes are called 'n01'" \
    "$embed" --classes codes -o k.npy pairs
ok 'a template without a hole: 1' refuses 1 'names.: line 1 has no' \
    "$embed" --classes names --templates names -o n.npy pairs
# the eight shapes as classes, by the labels of the data set
printf '%s\n' circle square triangle cross ring stripes checks dots |
    awk '{ print NR - 1 "\t" $0 }' >shapes
ok 'classes of the data set' "$embed" --classes shapes -o s.npy pairs
ok 'zero-shot: each image among them' "$BIN/foil-eval" zero-shot i.npy s.npy
ok 'by brute force the same' /usr/bin/python3 - "$work/out" <<'END'
import json, sys
import numpy as np
line = json.load(open(sys.argv[1]))
x, v, want = (np.load(f).astype(float) for f in
              ("i.npy", "s.npy", "i.labels.npy"))
x /= np.linalg.norm(x, axis=1, keepdims=True)
s = x @ v.T
own = s[np.arange(40), want.astype(int)]
rank = (1 + (s > own[:, None] + 1e-9).sum(1)
        + ((abs(s - own[:, None]) <= 1e-9).sum(1) - 1) / 2)
assert abs(line["top1"] - (rank <= 1).mean()) < 1e-12
assert abs(line["top3"] - (rank <= 3).mean()) < 1e-12
assert abs(line["top5"] - (rank <= 5).mean()) < 1e-12
each = [(rank[want == c] <= 1).mean() for c in range(8)]
assert np.allclose([c["top1"] for c in line["classes"]], each)
assert abs(line["class_mean"] - np.mean(each)) < 1e-12
assert line["chance"] == 1 / 8 and line["texts"] == 8
END
ok 'DATA before CHECKPOINT: 2' refuses 2 "CHECKPOINT comes first, then DATA" \
    "$embed" -o x.npy set.tar pairs
ok 'features as a picture: 2' refuses 2 "'x.png' does not end in .npy, .npz, .parquet or .csv" \
    "$embed" -o x.png pairs set.tar
ok 'what is no array is told with what makes one: 1' refuses 1 \
    "it is no .npy file: 'foil embed -o FILE.npy DATA'" \
    "$BIN/foil-eval" knn shapes
{ cat shapes; printf '8\tstar\n'; } >nine
"$embed" --classes nine -o nine.npy pairs
ok 'a class without images has no share of them' bash -c \
    "'$BIN/foil-eval' zero-shot --json i.npy nine.npy |
        jq -e '.classes[8] | .class == \"8\" and .size == 0 and .top1 == null'"
tac shapes >turned
"$embed" --classes turned -o r.npy pairs
"$BIN/foil-eval" zero-shot --json i.npy s.npy | jq -S '.classes | sort' >in-order
ok 'classes in another order are found by name' bash -c "
    '$BIN/foil-eval' zero-shot i.npy r.npy | jq -S '.classes | sort' |
    cmp - in-order"
head -n 7 shapes >seven
"$embed" --classes seven -o r.npy pairs
ok 'a class without a text: 1' refuses 1 \
    "5 rows of 'i.npy' are of classes that 'r.npy' does not have, such as '7'" \
    "$BIN/foil-eval" zero-shot i.npy r.npy
"$embed" --classes names -o r.npy pairs
ok 'classes of other names: 1' refuses 1 "that 'r.npy' does not have, such as" \
    "$BIN/foil-eval" zero-shot i.npy r.npy
rm r.labels.npy r.classes
ok 'classes without names: 1' refuses 1 "'r.npy' has no labels" \
    "$BIN/foil-eval" zero-shot i.npy r.npy
ok 'images of another width: 1' refuses 1 "has 6 columns and 'l.npy'|columns" \
    bash -c "cp i.labels.npy w.labels.npy; cp i.classes w.classes
    '$embed' --layer h -o w.npy pairs told.foil &&
    exec '$BIN/foil-eval' zero-shot w.npy s.npy"
# without an encoder
ok 'simple features' "$embed" --descriptor --size 16 -o simple.npy told.foil
ok 'are 768 numbers an image' grep -aq "'shape': (40, 768)" simple.npy
ok 'of which the first are mean colours' /usr/bin/python3 - "$embed" <<'END'
import subprocess, sys
import numpy as np
subprocess.check_call([sys.argv[1], "--raw", "--size", "16", "-o", "p.npy",
                       "told.foil"])
p, s = np.load("p.npy").reshape(40, 8, 2, 8, 2, 3), np.load("simple.npy")
assert np.allclose(p.mean((2, 4)).reshape(40, 192), s[:, :192], atol=1e-5)
END
ok 'a size that has no 8 cells: 2' refuses 2 'want a multiple of 8' \
    "$embed" --descriptor --size 12 -o simple.npy told.foil
ok 'tokens of captions' "$embed" --raw --captions --vocabulary merges.txt \
    -o tokens.npy told.foil
ok 'are marked' /usr/bin/python3 - <<'END'
import numpy as np
x, same = np.load("tokens.npy"), np.load("tokens.same.npy")
assert len(x) == 60 and set(np.unique(x)) == {0, 1}
for a in range(60):
    for b in range(60):
        assert (x[a] == x[b]).all() == (same[a] == same[b])
# "a", a digit, "shape": the captions differ in the digit
assert np.abs(x[0] - x[2]).sum() == 2
END
ok 'tokens without a vocabulary: 2' refuses 2 'go together' \
    "$embed" --raw --captions -o tokens.npy told.foil
ok 'foil-eval finds what they have in common' "$BIN/foil-eval" cca --json \
    simple.npy tokens.npy simple.npy tokens.npy
ok 'by both rules' jq -es 'map(.rule) == ["equal", "strict"] and
    all(.measure == "cca" and .image_to_text.queries == 40) and
    .[0].image_to_text.r1 > .5' "$work/out"
ok 'another width: 1' refuses 1 "'simple.npy' has 768 columns and 'i.npy' 6" \
    "$BIN/foil-eval" cca simple.npy tokens.npy i.npy tokens.npy
"$BIN/foil-eval" retrieve --captions --answers best i.npy c.npy >/dev/null
ok 'the best answers are those of the largest cosines' /usr/bin/python3 - <<'END'
import numpy as np
x, y = (np.load(f).astype(float) for f in ("i.npy", "c.npy"))
x /= np.linalg.norm(x, axis=1, keepdims=True)
y /= np.linalg.norm(y, axis=1, keepdims=True)
lines = [l.split("\t") for l in open("best")]
assert len(lines) == 100
for way, row, *best in lines:
    s = x @ y[int(row)] if way == "text_to_image" else y @ x[int(row)]
    got = s[[int(b) for b in best]]
    assert len(got) == 10 and np.allclose(got, np.sort(s)[::-1][:10], atol=1e-6)
END
ok 'answers without captions: 2' refuses 2 '--answers is for --captions' \
    "$BIN/foil-eval" retrieve --answers best i.npy i.npy
# batches of images and captions, of which equal ones are kept apart: the eight
# texts are those of five samples each
/usr/bin/python3 - <<'END'
import numpy as np
ids = np.load("c.ids.npy")
np.save("first.npy", np.load("c.npy")[np.unique(ids, return_index=True)[1]])
END
"$BIN/foil-data" group --by caption -o equal.npy told.foil 2>/dev/null
plan=("$BIN/foil-select" --score -b 8 --strategy ,tau=0.07)
ok 'batches of pairs' "${plan[@]}" --strategy swap i.npy first.npy
cp "$work/out" swap.json
ok 'are harder than random ones' jq -e '.mean > .random.mean' swap.json
for strategy in swap spectral; do
    ok "equal captions, by $strategy" "${plan[@]}" --strategy $strategy \
        --strategy ,hardness=0.5 --avoid equal.npy --plan-out plan.txt i.npy first.npy
    ok 'are kept apart' jq -e '.together == 0 and .random.together > 0' \
        "$work/out"
    # shellcheck disable=SC2016 # of awk
    ok 'in the plan that is written' awk '{
        split("", seen)
        for (i = 1; i <= NF; i++)
            if (seen[$i % 8]++)
                exit 1
        n += NF
    } END { if (n != 40) exit 1 }' plan.txt
done

# temperatures of images and captions
select_with=(--batch 20 --epochs 2)
ok 'temperatures are learnt' trained warm --objective isogclr_bimodal,eta=0.5
ok 'and told of' "$BIN/foil-eval" temperature --json warm told.foil
ok 'for images and for captions' jq -es '
    map(.column) == ["view0.tau", "view1.tau"] and .[0].samples == 40 and
    .[0].captions == null and .[1].captions.n == .[1].samples' "$work/out"
"$BIN/foil-eval" temperature warm told.foil | tail -n 1 >captions.json
ok 'which captions have the smallest and largest, and how many are equal' \
    /usr/bin/python3 - <<'END'
import json
line = json.load(open("captions.json"))
told = line["captions"]
rows = [l.rstrip("\n").split("\t") for l in open("told.tsv")]
texts = {}
for name, text in rows:
    texts.setdefault(name, []).append(text)
texts = list(texts.values())
low, high = (told[k] for k in ("smallest", "largest"))
assert [c["value"] for c in low] == sorted(c["value"] for c in low)
assert abs(low[0]["value"] - line["quantiles"]["0"]) < 1e-12
assert abs(high[0]["value"] - line["quantiles"]["1"]) < 1e-12
for c in low + high:
    assert c["text"] == texts[c["sample"]][c["caption"]]
    assert c["equal"] >= 1
END
ok 'two sides have no one picture: 2' refuses 2 "'view0.tau' and 'view1.tau'" \
    "$BIN/foil-eval" temperature --plot t.png warm told.foil
ok 'one of them has' "$BIN/foil-eval" temperature --column view1.tau warm \
    told.foil
ok 'two at once: 2' refuses 2 'go alone' \
    "$embed" --captions --lines names -o c.npy pairs told.foil


# One file for numpy, and parts of the images for jobs beside each other.
"$BIN/foil-data" generate -o parts.tar --size 8 23 2>/dev/null
"$BIN/foil-data" index parts.tar 2>/dev/null
ok 'an .npz' "$embed" --raw --size 8 -o one.npz parts.tar
ok 'is alone' test ! -e one.ids.npy -a ! -e one.json
"$embed" --raw --size 8 -o whole.npy parts.tar
for i in 1 2 3; do
    "$embed" --raw --size 8 --shard "$i/3" -o "part$i.npy" parts.tar
done
ok 'a part says which it is' grep -q '"shard": *\[2, *3\]' part2.json
if has_python numpy; then
    ok 'the .npz has all that the files have, and parts make the whole' \
        /usr/bin/python3 - <<'END'
import json
import numpy as np
z = np.load("one.npz")
assert sorted(z.files) == ["about.json", "classes.txt", "ids", "labels", "x"], z.files
for name, end in ("x", ".npy"), ("ids", ".ids.npy"), ("labels", ".labels.npy"):
    whole = np.load("whole" + end)
    assert z[name].dtype == whole.dtype and (z[name] == whole).all()
    parts = [np.load(f"part{i}{end}") for i in (1, 2, 3)]
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert (np.concatenate(parts) == whole).all()
assert z["classes.txt"] == open("whole.classes", "rb").read()
assert json.loads(z["about.json"])["layer"] == "pixels / 255"
END
else
    skip 'the .npz has all that the files have' 'no python3-numpy'
fi
ok "files of TensorBoard's projector" "$embed" --raw --size 8 --projector board \
    -o whole.npy parts.tar
ok 'a line for each image, with its class and file' diff \
    <(printf 'id\tclass\tfile\n'; "$BIN/foil-data" list parts.tar |
        awk -F '\t' 'NR > 1 { print $1 "\t" $3 "\t" $7 }') board/metadata.tsv
ok 'and with its features' test "$(awk -F '\t' 'NF == 192' board/tensors.tsv | wc -l)" \
    -eq 23
ok 'which the config names' grep -q 'tensor_path: "tensors.tsv"' \
    board/projector_config.pbtxt
if has_python pandas; then
    "$embed" --raw --size 8 -o whole.csv parts.tar
    ok 'pandas reads tables and the .npz' /usr/bin/python3 - <<'END'
import numpy as np
import pandas
table, z = pandas.read_csv("whole.csv"), np.load("one.npz")
assert list(table.columns[:3]) == ["id", "label", "class"]
assert (table["id"] == z["ids"]).all() and (table["label"] == z["labels"]).all()
assert np.allclose(table.iloc[:, 3:], z["x"])
points = pandas.read_csv("board/tensors.tsv", sep="\t", header=None)
assert np.allclose(points, z["x"], atol=1e-5)
END
else
    skip 'pandas reads tables and the .npz' 'no python3-pandas'
fi
ok 'a table of Parquet' "$embed" --raw --size 8 -o one.parquet parts.tar
ok 'is alone, and is one' test ! -e one.ids.npy -a "$(head -c 4 one.parquet)" = PAR1
if [[ -n ${NPM-} ]]; then
    "$embed" --raw --size 8 -o whole.csv parts.tar
    ok 'DuckDB reads the same rows in it as in the .csv' node "$here/duckdb.mjs" \
        "$NPM" one.parquet whole.csv
    ok 'all of them' grep -qx 23 "$work/out"
fi
ok 'a part that there is not: 2' refuses 2 "'4/3': want I/N" \
    "$embed" --raw --shard 4/3 -o x.npy parts.tar
ok 'of more parts than images: 1' refuses 1 'fewer than parts' \
    "$embed" --raw --shard 999/1000 -o x.npy parts.tar
done_testing
