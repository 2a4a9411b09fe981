"""captions.py BATCHES MERGES LIST [CAPTION]: compares the batches that augment_ends.py
printed with the captions that foil-data list prints.

Each row of tokens must decode to the caption of its sample and number; with CAPTION
`all`, to all captions of the sample.  Each row must have its stated length and end with
the end token, and the longest one fills its row.  Prints how often each caption was
drawn.
"""
import json
import sys

batches, merges, table = sys.argv[1:4]
choice = sys.argv[4] if len(sys.argv) > 4 else "random"
plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
chars = [chr(b) for b in plain] + [chr(256 + i) for i in range(256 - len(plain))]
tokens = chars + [c + "</w>" for c in chars]
tokens += [line.replace(" ", "") for line in open(merges).read().split("\n")[1:-1]]
start, end = len(tokens), len(tokens) + 1
captions = {}
for line in open(table).read().split("\n")[1:-1]:
    cells = line.split("\t")
    captions[int(cells[0])] = cells[7].lower().split("\\n")


def check(ids, which, rows, lengths):
    width = len(rows) // len(ids)
    assert max(lengths) <= width and len(lengths) == len(ids)
    for i, (id, k) in enumerate(zip(ids, which)):
        row = rows[i * width:(i + 1) * width]
        assert row[0] == start and row[lengths[i] - 1] == end
        assert not any(row[lengths[i]:])
        text = "".join(tokens[t] for t in row[1:lengths[i] - 1])
        text = text.replace("</w>", " ").strip()
        want = (" ".join(captions[id]) if choice == "all"
                else captions[id][k])
        assert text == want, (text, want)
    return width


drawn, batches_with_extra = {}, 0
for line in open(batches):
    batch = json.loads(line[line.index('{"'):])
    assert batch["vocabulary"] == end + 1
    assert batch["most_captions"] == max(map(len, captions.values()))
    width = check(batch["ids"], batch["captions"], batch["tokens"],
                  batch["lengths"])
    lengths = batch["lengths"]
    for k in batch["captions"]:
        drawn[k] = drawn.get(k, 0) + 1
    if "extra_texts" in batch:
        pairs = batch["extra_texts"]
        width = check(pairs[::2], pairs[1::2], batch["extra_tokens"],
                      batch["extra_lengths"])
        lengths = lengths + batch["extra_lengths"]
        batches_with_extra += 1
    assert width == max(lengths)
print(*(f"{k}:{drawn[k]}" for k in sorted(drawn)), "extra", batches_with_extra)
