#!/usr/bin/env bash
# foil-embed for its users.  NPM is the folder of scripts/try-npm with DuckDB.
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
ok 'foil-embed --raw writes pixels' "$embed" --raw --size 8 -o x.npy set.tar
ok '--raw writes a row of 8 x 8 x 3 for each of 40 images' \
    grep -aq "'shape': (40, 192)" x.npy
ok '--raw writes the ids' grep -aq "'shape': (40,)" x.ids.npy
ok '--raw writes the labels' grep -aq "'shape': (40,)" x.labels.npy
ok '--raw writes the names of classes, one per line' \
    cmp x.classes <(printf '%s\n' 0 1 2 3 4 5 6 7)
ok '--raw writes a .json with digest and image size' grep -q \
    '"digest":"[0-9a-f]\{32\}","size":40},"encoder":null.*"image_size":8' x.json
ok 'foil-eval reads the features' "$BIN/foil-eval" knn -k 1 x.npy
ok 'foil-embed --raw with another batch size succeeds' \
    "$embed" --raw --size 8 -b 7 -o y.npy set.tar
ok 'another batch size gives the same bits' cmp x.npy y.npy
ok '--recipe writes random views' "$embed" --raw --recipe cifar --size 8 -o v0.npy set.tar
ok '--recipe --view 1 writes random views' \
    "$embed" --raw --recipe cifar --size 8 --view 1 -o v1.npy set.tar
ok '--view 0 and --view 1 differ' exits 1 cmp -s v0.npy v1.npy
ok '--recipe with a default field succeeds' \
    "$embed" --raw --recipe cifar,hue=0.1 --size 8 \
    -o same.npy set.tar
ok 'a default field does not change the views' cmp v0.npy same.npy
ok 'the .json has the recipe as given' grep -q '"view":"cifar,hue=0.1"' same.json
ok '--recipe with another field succeeds' \
    "$embed" --raw --recipe cifar,hue=0 --size 8 -o w0.npy set.tar
ok 'another field changes the views' exits 1 cmp -s v0.npy w0.npy
ok 'foil-eval geometry measures the alignment of two views' bash -c \
    "'$BIN/foil-eval' geometry v0.npy v1.npy | grep -q '\"alignment\":0.[0-9]'"

data=set.tar # runs of two steps
augment_with=(--size 16) select_with=(--batch 20 --epochs 1)
train_with=(--arch mlp,hidden=12)
ok 'an encoder trains' trained run --head 5
ok 'foil-embed computes features' "$embed" --threads 1 -o h.npy run set.tar
ok '--captions of an encoder of images exits with 1' refuses 1 'text' \
    "$embed" --captions -o c.npy run set.tar
ok 'features have the width of the encoder' grep -aq "'shape': (40, 12)" h.npy
ok 'the .json has encoder, checkpoint and digest' grep -q \
    '"arch":"mlp".*"checkpoint":"run/step-.*"manifest":"[0-9a-f]\{32\}"' h.json
ok 'foil-embed of an encoder with another batch size succeeds' \
    "$embed" --threads 1 -b 9 -o h9.npy run set.tar
ok 'another batch size changes features by a millionth at most' /usr/bin/python3 - <<'END'
import array
a, b = (array.array('f', open(x, 'rb').read()[128:]) for x in ('h.npy', 'h9.npy'))
off = max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, a))
print(len(a), off)
raise SystemExit(len(a) != 480 or off > 1e-6)
END
ok '--layer z computes embeddings' "$embed" --layer z -o e.npy run/latest set.tar
ok 'embeddings have the width of the head' grep -aq "'shape': (40, 5)" e.npy
ok '--untrained computes features' "$embed" --threads 1 --untrained -o u.npy run set.tar
ok '--untrained gives other features' exits 1 cmp -s h.npy u.npy
ok '--untrained with another seed computes features' \
    "$embed" --threads 1 --untrained -s 1 -o u1.npy run set.tar
ok '--untrained with another seed gives other features' exits 1 cmp -s u.npy u1.npy
ok '--size that the encoder does not take exits with 1' refuses 1 'shape' \
    "$embed" --size 24 -o z.npy run set.tar
echo >>run/latest/model.safetensors
ok 'a damaged checkpoint exits with 1' refuses 1 'model.safetensors' \
    "$embed" -o z.npy run set.tar

ok 'foil-embed without -o exits with 2' refuses 2 'needs a file' "$embed" --raw set.tar
ok 'foil-embed without a checkpoint exits with 2' \
    refuses 2 'needs CHECKPOINT' "$embed" -o z.npy set.tar
ok '--raw with a checkpoint exits with 2' refuses 2 'needs CHECKPOINT' \
    "$embed" --raw -o z.npy run set.tar
ok 'a missing checkpoint exits with 1' refuses 1 nowhere "$embed" -o z.npy nowhere set.tar
ok 'missing data exit with 1' refuses 1 "no.tar" "$embed" --raw -o z.npy no.tar
ok '--view without --recipe exits with 2' \
    refuses 2 '--view 1 is a random view: add --recipe' \
    "$embed" --raw --size 8 --view 1 -o z.npy set.tar
ok 'an unknown recipe exits with 2' refuses 2 "no recipe 'soup': there are cifar" \
    "$embed" --raw --recipe soup -o z.npy set.tar
ok 'an unknown field of a recipe exits with 2' \
    refuses 2 "no field 'salt': there are scale-min" \
    "$embed" --raw --recipe cifar,salt=1 -o z.npy set.tar
printf '%s\n' "$PWD/1.jpg" >list.csv
"$BIN/foil-data" cat set.tar 0 >1.jpg
"$BIN/foil-data" index list.csv
ok '-o on the list of data exits with 2' refuses 2 \
    "'list.csv' is an input and would be overwritten" \
    "$embed" --raw -o list.csv list.csv
ok '-o in a missing folder exits with 1' \
    refuses 1 'no/z' "$embed" --raw -o no/z.npy set.tar

# Large views take long enough to interrupt.  Wait until foil-embed blocks SIGTERM: then
# one of its threads waits for it.  Before exec, the process is a bash.
awaits_term() {
    local mask
    grep -qx 'Name:.foil-embed' "/proc/$1/status" || return
    mask=$(awk '/^SigBlk/ { print $2 }' "/proc/$1/status")
    (((0x$mask >> 14) & 1))
}
"$embed" --raw --recipe imagenet --size 1024 -b 4 -o w.npy set.tar 2>messages &
pid=$!
becomes_true awaits_term "$pid"
kill -TERM "$pid"
ok 'foil-embed exits with 1 after SIGTERM' exits 1 wait "$pid"
ok 'foil-embed reports that it was stopped' grep -q 'stopped: no file is written' messages
ok 'foil-embed writes no file after SIGTERM' test ! -e w.npy

# a file of a folder is deleted
mkdir -p gone/a
tar xf set.tar -C gone/a --wildcards '*.jpg'
"$BIN/foil-data" index gone 2>/dev/null
rm gone/a/000007.jpg
ok 'data with a deleted file exit with 1' \
    refuses 1 "gone/a/000007.jpg' has gone .* run 'foil data index gone'" \
    "$embed" --raw --size 8 -o z.npy gone
ok '--bad skip leaves out a deleted file' "$embed" --raw --bad skip --size 8 -o z.npy gone
ok '--bad skip of a deleted file writes one row less' grep -aq "'shape': (39, 192)" z.npy
rm z.*

# damage one image after its header, so that only the digest differs
size=$(stat -c %s set.tar)
cp set.tar bad.tar
printf 'damage' | dd of=bad.tar bs=1 seek=$((size / 2)) conv=notrunc 2>/dev/null
mv set.tar good.tar && mv bad.tar set.tar
ok 'a damaged image exits with 1' refuses 1 'has changed since .*--bad skip' \
    "$embed" --raw -o z.npy set.tar
ok 'a damaged image leaves no output' test ! -e z.npy
ok '--bad skip leaves out a damaged image' \
    "$embed" --raw --bad skip --size 8 -o z.npy set.tar
ok '--bad skip reports the number of bad images' \
    grep -q 'bad images, left out: 1 of 40' out
ok '--bad skip of a damaged image writes one row less' grep -aq "'shape': (39, 192)" z.npy
# texts, by two encoders after a step: 40 images; every other image has a second caption,
# which is spelled differently but is the same text
"$BIN/foil-data" generate -o pics.tar --size 16 40 2>/dev/null
"$BIN/foil-data" index pics.tar 2>/dev/null
"$BIN/foil-data" list pics.tar | awk -F'\t' 'NR > 1 {
    print $7 "\ta " $1 % 8 " shape"
    if ($1 % 2 == 0)
        print $7 "\tA  " $1 % 8 " SHAPE"
}' >captions.tsv
"$BIN/foil-data" index -o captions.foil --captions captions.tsv pics.tar 2>/dev/null
ok 'foil-data makes a vocabulary' "$BIN/foil-data" vocabulary -o merges.txt captions.foil
data=captions.foil
augment_with+=(-v 1 --vocabulary merges.txt)
train_with+=(--text bow:8 --vocabulary merges.txt --embed 6)
ok 'an encoder of images and captions trains' trained pairs --objective clip
ok '--captions embeds captions' "$embed" --captions -o c.npy pairs captions.foil
ok '--captions writes a row for each caption' grep -aq "'shape': (60, 6)" c.npy
ok '--captions writes the samples and the groups of equal captions' \
    /usr/bin/python3 - <<'END'
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
ok '--untrained --captions embeds captions by initial weights' "$embed" --untrained \
    --captions -o u.npy pairs captions.foil
ok 'they differ from those of the checkpoint' exits 1 cmp -s c.npy u.npy
ok '--untrained --captions of the same seed are the same' bash -c "'$embed' --untrained \
    --captions -o v.npy pairs captions.foil && cmp u.npy v.npy"
ok 'u.json says so' jq -e .encoder.untrained u.json
ok '--untrained --lines exits with 2' refuses 2 'or --classes alone' \
    "$embed" --untrained --lines captions.tsv -o u.npy pairs
ok '--captions with another batch size succeeds' "$embed" --captions -b 3 -o d.npy \
    pairs captions.foil
ok '--layer z embeds images in the space of captions' \
    "$embed" --layer z -o i.npy pairs captions.foil
ok 'foil-eval retrieve reads images and captions' \
    "$BIN/foil-eval" retrieve --captions i.npy c.npy
ok '--lines embeds lines' "$embed" --lines captions.tsv -o l.npy pairs
ok '--lines writes a row for each line' grep -aq "'shape': (60, 6)" l.npy
printf '%s\n' cat dog >names
printf 'one {} only\n' >templates
ok '--classes with --templates embeds classes' \
    "$embed" --classes names --templates templates -o n.npy pairs
ok '--classes writes unit rows of the embedded lines' /usr/bin/python3 - "$embed" <<'END'
import subprocess, sys
import numpy as np
open("lines", "w").write("one cat only\none dog only\n")
subprocess.check_call([sys.argv[1], "--lines", "lines", "-o", "m.npy", "pairs"])
m, n = np.load("m.npy"), np.load("n.npy")
assert np.allclose(m / np.linalg.norm(m, axis=1, keepdims=True), n, atol=1e-6)
END
printf 'n01\tcat\nn02\tdog\r\n' >codes
ok '--classes with codes embeds classes' "$embed" --classes codes --templates templates \
    -o k.npy pairs
ok '--classes with codes gives the rows of the words' cmp k.npy n.npy
ok '--classes with codes names classes by their codes' \
    bash -c "printf 'n01\nn02\n' | cmp - k.classes"
printf 'n01\tcat\nn01\tdog\n' >codes
ok 'two classes with the same code exit with 1' \
    refuses 1 "'codes': two classes are called 'n01'" \
    "$embed" --classes codes -o k.npy pairs
ok 'a template without {} exits with 1' refuses 1 'names.: line 1 has no' \
    "$embed" --classes names --templates names -o n.npy pairs
# the eight shapes as classes, by the labels of the data set
printf '%s\n' circle square triangle cross ring stripes checks dots |
    awk '{ print NR - 1 "\t" $0 }' >shapes
ok '--classes with the labels of the data set embeds classes' \
    "$embed" --classes shapes -o s.npy pairs
ok 'foil-eval zero-shot classifies the images' "$BIN/foil-eval" zero-shot i.npy s.npy
ok 'zero-shot has the results of brute force' /usr/bin/python3 - "$work/out" <<'END'
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
ok 'DATA before CHECKPOINT exits with 2' refuses 2 "CHECKPOINT comes first, then DATA" \
    "$embed" -o x.npy set.tar pairs
ok '-o with the extension of a picture exits with 2' \
    refuses 2 "'x.png' does not end in .npy, .npz, .parquet or .csv" \
    "$embed" -o x.png pairs set.tar
ok 'foil-eval of a file that is not an array exits with 1' refuses 1 \
    "it is no .npy file: 'foil embed -o FILE.npy DATA'" \
    "$BIN/foil-eval" knn shapes
{ cat shapes; printf '8\tstar\n'; } >nine
"$embed" --classes nine -o nine.npy pairs
ok 'a class without images has no top1' bash -c \
    "'$BIN/foil-eval' zero-shot --json i.npy nine.npy |
        jq -e '.classes[8] | .class == \"8\" and .size == 0 and .top1 == null'"
tac shapes >turned
"$embed" --classes turned -o r.npy pairs
"$BIN/foil-eval" zero-shot --json i.npy s.npy | jq -S '.classes | sort' >in-order
ok 'zero-shot finds classes in another order by name' bash -c "
    '$BIN/foil-eval' zero-shot i.npy r.npy | jq -S '.classes | sort' |
    cmp - in-order"
head -n 7 shapes >seven
"$embed" --classes seven -o r.npy pairs
ok 'zero-shot of a class without a text exits with 1' refuses 1 \
    "5 rows of 'i.npy' are of classes that 'r.npy' does not have, such as '7'" \
    "$BIN/foil-eval" zero-shot i.npy r.npy
"$embed" --classes names -o r.npy pairs
ok 'zero-shot with other names of classes exits with 1' \
    refuses 1 "that 'r.npy' does not have, such as" \
    "$BIN/foil-eval" zero-shot i.npy r.npy
rm r.labels.npy r.classes
ok 'zero-shot without names of classes exits with 1' refuses 1 "'r.npy' has no labels" \
    "$BIN/foil-eval" zero-shot i.npy r.npy
ok 'zero-shot of images of another width exits with 1' \
    refuses 1 "has 6 columns and 'l.npy'|columns" \
    bash -c "cp i.labels.npy w.labels.npy; cp i.classes w.classes
    '$embed' --layer h -o w.npy pairs captions.foil &&
    exec '$BIN/foil-eval' zero-shot w.npy s.npy"
# without an encoder
ok '--descriptor writes features' \
    "$embed" --descriptor --size 16 -o simple.npy captions.foil
ok '--descriptor writes 768 numbers for each image' \
    grep -aq "'shape': (40, 768)" simple.npy
ok 'the first numbers of --descriptor are mean colours' \
    /usr/bin/python3 - "$embed" <<'END'
import subprocess, sys
import numpy as np
subprocess.check_call([sys.argv[1], "--raw", "--size", "16", "-o", "p.npy",
                       "captions.foil"])
p, s = np.load("p.npy").reshape(40, 8, 2, 8, 2, 3), np.load("simple.npy")
assert np.allclose(p.mean((2, 4)).reshape(40, 192), s[:, :192], atol=1e-5)
END
ok '--descriptor --size 12 exits with 2' refuses 2 'want a multiple of 8' \
    "$embed" --descriptor --size 12 -o simple.npy captions.foil
ok '--raw --captions writes tokens' "$embed" --raw --captions --vocabulary merges.txt \
    -o tokens.npy captions.foil
ok '--raw --captions marks the tokens of each caption' /usr/bin/python3 - <<'END'
import numpy as np
x, same = np.load("tokens.npy"), np.load("tokens.same.npy")
assert len(x) == 60 and set(np.unique(x)) == {0, 1}
for a in range(60):
    for b in range(60):
        assert (x[a] == x[b]).all() == (same[a] == same[b])
# "a", a digit, "shape": the captions differ in the digit
assert np.abs(x[0] - x[2]).sum() == 2
END
ok '--raw --captions without --vocabulary exits with 2' refuses 2 'go together' \
    "$embed" --raw --captions -o tokens.npy captions.foil
ok 'foil-eval cca reads features and tokens' "$BIN/foil-eval" cca --json \
    simple.npy tokens.npy simple.npy tokens.npy
ok 'cca prints a result for both rules' jq -es 'map(.rule) == ["equal", "strict"] and
    all(.measure == "cca" and .image_to_text.queries == 40) and
    .[0].image_to_text.r1 > .5' "$work/out"
ok 'cca of features of another width exits with 1' \
    refuses 1 "'simple.npy' has 768 columns and 'i.npy' has 6" \
    "$BIN/foil-eval" cca simple.npy tokens.npy i.npy tokens.npy
"$BIN/foil-eval" retrieve --captions --answers best i.npy c.npy >/dev/null
ok '--answers writes the captions with the largest cosines' /usr/bin/python3 - <<'END'
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
ok '--answers without --captions exits with 2' refuses 2 '--answers is for --captions' \
    "$BIN/foil-eval" retrieve --answers best i.npy i.npy
# batches of images and captions that separate equal captions: the eight texts are those
# of five samples each
/usr/bin/python3 - <<'END'
import numpy as np
ids = np.load("c.ids.npy")
np.save("first.npy", np.load("c.npy")[np.unique(ids, return_index=True)[1]])
END
"$BIN/foil-data" group --by caption -o equal.npy captions.foil 2>/dev/null
plan=("$BIN/foil-select" --score -b 8 --strategy ,tau=0.07)
ok 'foil-select --score swap plans batches of pairs' \
    "${plan[@]}" --strategy swap i.npy first.npy
cp "$work/out" swap.json
ok 'batches of pairs are harder than random ones' jq -e '.mean > .random.mean' swap.json
for strategy in swap spectral; do
    ok "foil-select --avoid separates equal captions: $strategy" \
        "${plan[@]}" --strategy $strategy \
        --strategy ,hardness=0.5 --avoid equal.npy --plan-out plan.txt i.npy first.npy
    ok "no batch has equal captions: $strategy" \
        jq -e '.same_group_pairs == 0 and .random.same_group_pairs > 0' \
        "$work/out"
    # shellcheck disable=SC2016 # of awk
    ok "no batch of the written plan has equal captions: $strategy" awk '{
        split("", seen)
        for (i = 1; i <= NF; i++)
            if (seen[$i % 8]++)
                exit 1
        n += NF
    } END { if (n != 40) exit 1 }' plan.txt
done

# temperatures of images and captions
select_with=(--batch 20 --epochs 2)
ok 'isogclr_bimodal trains' trained warm --objective isogclr_bimodal,eta=0.5
ok 'foil-eval temperature reads its temperatures' \
    "$BIN/foil-eval" temperature --json warm captions.foil
ok 'temperature prints images and captions' jq -es '
    map(.column) == ["view0.tau", "view1.tau"] and .[0].samples == 40 and
    .[0].captions == null and .[1].captions.n == .[1].samples' "$work/out"
"$BIN/foil-eval" temperature warm captions.foil | tail -n 1 >captions.json
ok 'temperature prints the captions with extreme values' \
    /usr/bin/python3 - <<'END'
import json
line = json.load(open("captions.json"))
captions = line["captions"]
rows = [l.rstrip("\n").split("\t") for l in open("captions.tsv")]
texts = {}
for name, text in rows:
    texts.setdefault(name, []).append(text)
texts = list(texts.values())
low, high = (captions[k] for k in ("smallest", "largest"))
assert [c["value"] for c in low] == sorted(c["value"] for c in low)
assert abs(low[0]["value"] - line["quantiles"]["0"]) < 1e-12
assert abs(high[0]["value"] - line["quantiles"]["1"]) < 1e-12
for c in low + high:
    assert c["text"] == texts[c["sample"]][c["caption"]]
    assert c["equal"] >= 1
END
ok 'temperature --plot of two columns exits with 2' \
    refuses 2 "'view0.tau' and 'view1.tau'" \
    "$BIN/foil-eval" temperature --plot t.png warm captions.foil
ok 'temperature --column takes one column' \
    "$BIN/foil-eval" temperature --column view1.tau warm \
    captions.foil
ok '--captions with --lines exits with 2' refuses 2 'or --classes alone' \
    "$embed" --captions --lines names -o c.npy pairs captions.foil


# One file for numpy, and parts of the images for parallel jobs.
"$BIN/foil-data" generate -o parts.tar --size 8 23 2>/dev/null
"$BIN/foil-data" index parts.tar 2>/dev/null
ok '-o .npz writes a file' "$embed" --raw --size 8 -o one.npz parts.tar
ok '-o .npz writes one file only' test ! -e one.ids.npy -a ! -e one.json
"$embed" --raw --size 8 -o whole.npy parts.tar
for i in 1 2 3; do
    "$embed" --raw --size 8 --shard "$i/3" -o "part$i.npy" parts.tar
done
ok 'the .json of --shard has its number' grep -q '"shard": *\[2, *3\]' part2.json
if has_python numpy; then
    ok 'the .npz has the content of all files; the shards make the whole' \
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
    skip 'the .npz has the content of all files' 'no python3-numpy'
fi
ok "--projector writes files for TensorBoard" "$embed" --raw --size 8 --projector board \
    -o whole.npy parts.tar
ok '--projector writes a line of metadata for each image' diff \
    <(printf 'id\tclass\tfile\n'; "$BIN/foil-data" list parts.tar |
        awk -F '\t' 'NR > 1 { print $1 "\t" $3 "\t" $7 }') board/metadata.tsv
ok '--projector writes the features of each image' \
    test "$(awk -F '\t' 'NF == 192' board/tensors.tsv | wc -l)" \
    -eq 23
ok '--projector writes a config with the file of features' \
    grep -q 'tensor_path: "tensors.tsv"' \
    board/projector_config.pbtxt
if has_python pandas; then
    "$embed" --raw --size 8 -o whole.csv parts.tar
    ok 'pandas reads the tables and the .npz' /usr/bin/python3 - <<'END'
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
    skip 'pandas reads the tables and the .npz' 'no python3-pandas'
fi
ok '-o .parquet writes a file' "$embed" --raw --size 8 -o one.parquet parts.tar
ok '-o .parquet writes one Parquet file only' \
    test ! -e one.ids.npy -a "$(head -c 4 one.parquet)" = PAR1
if [[ -n ${NPM-} ]]; then
    "$embed" --raw --size 8 -o whole.csv parts.tar
    ok 'DuckDB reads the rows of the .csv in the Parquet file' node "$here/duckdb.mjs" \
        "$NPM" one.parquet whole.csv
    ok 'DuckDB reads all rows of the Parquet file' grep -qx 23 "$work/out"
fi
ok '--shard 4/3 exits with 2' refuses 2 "'4/3': want I/N" \
    "$embed" --raw --shard 4/3 -o x.npy parts.tar
ok 'more shards than images exit with 1' refuses 1 'fewer images than parts' \
    "$embed" --raw --shard 999/1000 -o x.npy parts.tar
done_testing
