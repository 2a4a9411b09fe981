#!/usr/bin/env bash
# foil-embed --export --captions: text encoders as files with the names of other
# programs; foil-train reads them back.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
embed=$BIN/foil-embed

cd "$work" || exit 1
"$BIN/foil-data" generate -o set.tar --size 12 24 2>/dev/null
"$BIN/foil-data" index set.tar 2>/dev/null
"$BIN/foil-data" list set.tar | awk -F'\t' 'NR > 1 {
    print $7 "\tnumber " $1 % 7 " of a shape, seen " $1 % 5 " times" }' >captions.tsv
"$BIN/foil-data" index -o captions.foil --captions captions.tsv set.tar 2>/dev/null
"$BIN/foil-data" vocabulary -o words.txt captions.foil 2>/dev/null
data=captions.foil # runs of three steps
augment_with=(-v 1 --size 8 --vocabulary words.txt --context 12)
select_with=(--batch 8 --epochs 1)
train_with=(--objective clip --arch linear --vocabulary words.txt --text ,context=12
    --embed 6 --optim adamw --lr 0.01 --warmup 0)
# again NAME TEXT : embeds captions by a frozen encoder of that file
again() {
    trained "$1-2" --text "$2" --init "text=$1.safetensors" --freeze text --seed 7 &&
        "$embed" --captions --layer "$3" -o "$1-2.npy" "$1-2" captions.foil
}

names=$(cat <<'end'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
n, = struct.unpack("<Q", data[:8])
head = json.loads(data[8:8 + n])
about = head.pop("__metadata__")
shapes = {k: v["shape"] for k, v in head.items()}
ids, w = int(about["vocabulary"]), 8
assert about["context"] == "12" and "start" in about["tokens"], about
assert "pixels" not in about and about["features"] == "8", about
end
)
block='for layer in range(2):
    at = "transformer.resblocks.%d." % layer
    for name, out, of in (("attn.in_proj_", 3 * w, w),
                          ("attn.out_proj.", w, w), ("mlp.c_fc.", 4 * w, w),
                          ("mlp.c_proj.", w, 4 * w)):
        want[at + name + "weight"], want[at + name + "bias"] = [out, of], [out]
    for name in "ln_1", "ln_2":
        want[at + name + ".weight"] = want[at + name + ".bias"] = [w]'
open_clip="want = {'token_embedding.weight': [ids, w], 'text_projection': [w, 6],
    'ln_final.weight': [w], 'ln_final.bias': [w]}"
hugging_face='want = {"embeddings.word_embeddings.weight": [ids, w],
    "embeddings.position_embeddings.weight": [12, w],
    "embeddings.LayerNorm.weight": [w], "embeddings.LayerNorm.bias": [w]}
for layer in range(2):
    at = "transformer.layer.%d." % layer
    for name, out, of in [("attention.%s_lin." % k, w, w) for k in
                          ("q", "k", "v", "out")] + [
                          ("ffn.lin1.", 4 * w, w), ("ffn.lin2.", w, 4 * w)]:
        want[at + name + "weight"], want[at + name + "bias"] = [out, of], [out]
    for name in "sa_layer_norm", "output_layer_norm":
        want[at + name + ".weight"] = want[at + name + ".bias"] = [w]'
equal='assert shapes == want, (shapes, want)'

# exported NAME TEXT LAYER LINES... : all checks of an encoder; LINES are Python that
# sets the names and shapes
exported() {
    local name=$1 text=$2 layer=$3
    shift 3
    ok "$text: an encoder trains" trained "$name" --text "$text"
    ok "$text: foil-embed embeds captions" \
        "$embed" --captions --layer "$layer" -o "$name.npy" \
        "$name" captions.foil
    ok "$text: foil-embed exports the encoder" \
        "$embed" --captions --export "$name.safetensors" "$name"
    ok "$text: names and shapes are those of the other program" /usr/bin/python3 -c \
        "$names"$'\n'"$(printf '%s\n' "$@")" "$name.safetensors"
    ok "$text: another run starts with the exported encoder" \
        again "$name" "$text" "$layer"
    ok "$text: the exported encoder gives the same bits" cmp "$name.npy" "$name-2.npy"
}
exported bow bow:8 z "$open_clip" "$equal"
exported clip clip:8x2x2 z "$open_clip" \
    "want['positional_embedding'] = [12, w]" "$block" "$equal"
exported bert distilbert:8x2x2 h "$hugging_face" "$equal"

images_alone() {
    "$embed" --export i.safetensors clip &&
        ! grep -q token_embedding i.safetensors
}
ok 'an export of the image encoder has no tensor of the text encoder' images_alone
ok '--onnx --captions exits with 2' refuses 2 '--onnx .* for encoders of images' \
    "$embed" --captions --onnx x.onnx clip
train_images() {
    local data=set.tar augment_with=(--size 8) train_with=(--arch linear)
    trained images
}
ok 'a run of images only succeeds' train_images
ok '--captions --export of a run without captions exits with 1' refuses 1 "images.*text" \
    "$embed" --captions --export y.safetensors images
ok '--init of a text encoder of another width exits with 1' \
    refuses 1 'token_embedding.weight.* is \[' \
    trained wide --text clip:16x2x2 --init text=clip.safetensors
done_testing
