#!/usr/bin/env bash
# The smallest demo of images and captions, on drawings in the layout of Debian's
# packages: how it splits them, its output and its files.
# Not for sanitizers: a pipeline; other tests cover its stages.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
export OMP_NUM_THREADS=1
PATH=$BIN:$PATH
cd "$work" || exit 1

# 60 emoji by two artists; one artist lacks the last emoji, the other the first.  One
# emoji has a skin tone, two have no name in Unicode's list.
/usr/bin/python3 - <<'END'
import json, os, struct, zlib


def png(path, seed):
    rows = b""
    for y in range(16):
        rows += b"\0" + bytes(((x * y * seed + 40 * (seed % 5)) % 256)
                              if c < 3 else 255 * ((x + seed) % 16 > 1)
                              for x in range(16) for c in range(4))
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n"
                + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 6, 0, 0, 0))
                + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


one = "packages/one/gems/gemojione-3"
two = "packages/two/gems/tanuki_emoji-0"
for folder in (one + "/config", one + "/assets/png",
               two + "/app/assets/images/tanuki_emoji",
               two + "/vendor/unicode"):
    os.makedirs(folder)
words = "cat dog sun moon car house tree fish bird star".split()
index, listed = {}, []
for i in range(60):
    name = f"{words[i % 10]} {words[i // 10]}"
    codes = [f"{0x1f600 + i:X}"] + (["FE0F"] if i % 9 == 4 else [])
    index[f"e{i}"] = {"unicode": "-".join(codes), "unicode_alternates": [],
                      "name": "old " + name, "shortname": f":e{i}:",
                      "keywords": [words[i % 10], "thing"], "moji": "?"}
    if i not in (7, 8):
        listed.append(" ".join(codes) + " " * 20
                      + f"; fully-qualified     # ? E1.0 {name}")
    listed.append(f"{codes[0]} ; unqualified # ? E1.0 wrong")
    if i:
        png(f"{one}/assets/png/{'-'.join(codes)}.png", i)
    if i < 59:
        png(f"{two}/app/assets/images/tanuki_emoji/emoji_u"
            + codes[0].lower() + ".png", i + 1)
png(f"{one}/assets/png/1F601-1F3FB.png", 3)
json.dump(index, open(one + "/config/index.json", "w"), indent=2)
open(two + "/vendor/unicode/emoji-test.txt", "w").write(
    "# group\n" + "\n".join(listed) + "\n")
END

# demo NAME ARG... : a run in the folder NAME
demo() {
    timeout -k 5 200 foil run emoji -r "$@" --epochs 2 --batch 16 \
        --augmenters 1 --threads 1 --size 16 \
        --train '--arch linear --text bow:8 --embed 8'
}

ok 'foil run emoji succeeds' demo run --packages packages
cp "$work/out" demo.out
ok 'the demo splits the drawings by concept' /usr/bin/python3 - <<'END'
import re


def read(part):
    return dict(l.rstrip("\n").split("\t") for l in open(f"run/data/{part}.tsv"))


def code(path):
    return int(re.search("(1f6[0-9a-f]{2})", path.lower()[-30:])[1], 16) - 0x1f600


train, full, drawing, twin, concept = map(read, ("train", "full", "drawing",
                                                 "twin", "concept"))
known = {code(p) for p in train}
assert drawing and concept and len(full) == len(train)
assert all("gemojione" in p for p in drawing)
assert not set(drawing) & set(train) and set(twin) <= set(train)
assert [code(p) for p in drawing] == [code(p) for p in twin]
assert list(drawing.values()) == list(twin.values())
assert not {code(p) for p in concept} & known
assert all("tanuki" in p for p in concept)
assert not any("1F3FB" in p for p in train)
# each emoji is in a set, except 59 as a new concept: tanuki did not draw it
assert len(known) + len(concept) == 60 - (59 not in known)
for path, text in train.items():
    i = code(path)
    words = "cat dog sun moon car house tree fish bird star".split()
    name = ("old " if i in (7, 8) else "") + f"{words[i % 10]} {words[i // 10]}"
    assert text == f"{name}\\n{name} {words[i % 10]} thing", text
END
for part in drawing concept; do
    ok "new ${part}s: CCA and encoders are evaluated on the same captions" jq -es '
        map(select(.rule == "equal")) | map(.measure) == ["cca", "captions", "captions"] and
        (map(.captions.n) | unique | length) == 1 and .[1].images.made.encoder.untrained
        ' run/$part.jsonl
done
ok 'new drawings are evaluated by retrieval of their twins' jq -es '
    map(select(.measure == "retrieve")) | length == 1' run/drawing.jsonl
ok 'the demo prints the table' grep -qF "$(sed -n 5p run/table.txt)" demo.out
ok 'the table has the figures of foil-eval' bash -c "
    want=\$(jq -rs 'map(select(.measure == \"captions\" and .rule == \"equal\")) |
        last.text_to_image.r10 * 1000 | round / 10' run/concept.jsonl)
    awk -v want=\"\$want\" '/^the encoders/ { got = \$NF }
        END { print got, want; exit !(got == want) }' run/table.txt"
ok 'no line of the table is longer than 79 characters' \
    exits 1 grep -E '.{80}' run/table.txt
if command -v gnuplot >/dev/null; then
    ok 'the sheet is a PNG' grep -q PNG run/sheet.png
else
    skip 'the sheet is a PNG' 'no gnuplot'
fi
ok '--resume of a finished demo trains nothing' bash -c "
    foil run emoji --resume -r run 2>&1 >/dev/null | grep 'nothing is left'"

mkdir bin none
printf '#!/bin/sh\necho no network >&2\nexit 100\n' >bin/apt-get
chmod 755 bin/apt-get
# shellcheck disable=SC2016 # of the script
ok 'foil run emoji without a network exits with 1' refuses 1 \
    "cannot download ruby-tanuki-emoji .*apt-get update.*--packages" \
    env PATH="$work/bin:$PATH" XDG_CACHE_HOME="$work/cache" \
    bash -c 'foil run emoji -r offline 2>err
        code=$?; grep -v downloads err >&2; exit "$code"'
ok 'foil run emoji with a folder without packages exits with 1' refuses 1 \
    "'none' has no 'config/index.json'" foil run emoji -r empty --packages none
done_testing
