#!/usr/bin/env bash
# foil-embed --export DIR/: folders that timm, open_clip and PyTorch open with one line.
# Compares their keys with a contract, and their features in PyTorch with foil-embed's.
# Not for sanitizers: two runs and PyTorch; test export.sh has the same writers.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
# shellcheck source=tests/runs.sh
. "${0%/*}/../runs.sh"
export PATH=$BIN:$PATH OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=1
here=$(cd "${0%/*}" && pwd)
cd "$work" || exit 1
foil-data generate -o set.tar --size 32 24 2>/dev/null
foil-data index set.tar 2>/dev/null
data=set.tar augment_with=(--size 32) select_with=(--batch 12 --epochs 1)
train_with=(--lr 0.01)
ok "a ResNet in torchvision's layout trains" trained resnet --arch resnet18,stem=imagenet
ok 'a ResNet for small images trains' trained small --arch resnet18,width=8
ok 'a ResNet with group norm trains' trained group --arch resnet8,norm=group
ok 'a vision transformer trains' trained vit --arch vit:32x2x8
ok 'an encoder with two layers trains' trained mlp --arch mlp,hidden=16
foil-data vocabulary --size 600 -o words.txt set.tar 2>/dev/null
augment_with+=(-v 1 --vocabulary words.txt)
ok 'an encoder of images and captions trains' \
    trained pairs --arch vit:32x1x8 --text clip:32x2x2 \
    --vocabulary words.txt --embed 16 --objective clip

# has FILE FILTER : the jq filter is true for the JSON file
has() {
    jq -e "$2" "$1" >/dev/null || { cat "$1"; return 1; }
}
# tensors FILE : prints names and shapes, one per line
tensors() {
    /usr/bin/python3 -c 'import json, struct, sys
data = open(sys.argv[1], "rb").read()
head = json.loads(data[8:8 + struct.unpack("<Q", data[:8])[0]])
assert head.pop("__metadata__")["format"] == "pt"
for k in sorted(head): print(k, *head[k]["shape"])' "$1"
}

ok '--export writes a folder of a ResNet' \
    foil-embed --export resnet.d/ --licence mit resnet
ok 'the config.json of a ResNet has the keys of timm' has resnet.d/config.json '
    .architecture == "resnet18" and .num_classes == 0 and .num_features == 512 and
    .model_args == {} and .global_pool == "avg" and (.pretrained_cfg |
    .input_size == [3, 32, 32] and (.mean[0] - 0.485 | fabs) < 1e-6 and
    (.std[2] - 0.225 | fabs) < 1e-6 and .interpolation == "bilinear" and
    .crop_pct == 1 and .first_conv == "conv1" and .classifier == "fc" and
    .num_classes == 0 and .license == "mit" and .fixed_input_size == false)'
cat >contract <<'END'
bn1.bias 64
conv1.weight 64 3 7 7
layer1.0.conv1.weight 64 64 3 3
layer4.0.downsample.0.weight 512 256 1 1
layer4.1.bn2.running_var 512
END
# names FOLDER FILE COUNT : the file has COUNT tensors, with those of the contract
names() {
    tensors "$1/$2" >names
    local n
    n=$(sort contract | comm -12 - <(sort names) | wc -l)
    [[ $n -eq $(wc -l <contract) && $(wc -l <names) -eq $3 ]] || { cat names; return 1; }
}
ok 'the tensors of a ResNet have the names of timm and torchvision' names resnet.d \
    model.safetensors 100
ok 'the README has licence, data set, settings and code' grep -qz \
    '^---.license: mit.*| data set | 24 images.*| objective | simclr |.*local-dir:resnet.d' \
    resnet.d/README.md

printf 'pipeline simclr\nDATA /home/author/set.tar\nepochs 3\n' >vit/command
ok '--export writes a folder of a transformer' foil-embed --export vit.d/ vit
ok "the README has the command without the author's path" bash -c \
    "grep -qx 'DATA set.tar' vit.d/README.md && ! grep -q author vit.d/README.md"
ok 'the config.json of a transformer has the keys of timm' \
    has vit.d/config.json '.architecture == "vit_base_patch16_224" and
    .model_args == {img_size: [32, 32], patch_size: 8, embed_dim: 32, depth: 2,
    num_heads: 1} and .global_pool == "token" and .pretrained_cfg.fixed_input_size'
cat >contract <<'END'
blocks.0.attn.qkv.weight 96 32
blocks.1.mlp.fc2.bias 32
blocks.1.norm2.weight 32
cls_token 1 1 32
norm.bias 32
patch_embed.proj.weight 32 3 8 8
pos_embed 1 17 32
END
ok 'the tensors of a transformer have the names of timm' names vit.d model.safetensors 30

ok '--export writes a folder of images and captions' foil-embed --export pairs.d/ pairs
ok 'the open_clip_config.json has the keys of open_clip' \
    has pairs.d/open_clip_config.json '
    .model_cfg.embed_dim == 16 and (.model_cfg.vision_cfg |
    .timm_model_name == "vit_base_patch16_224" and .timm_proj == "linear" and
    .timm_pool == "token" and .timm_model_kwargs.depth == 1 and
    .image_size == [32, 32]) and .model_cfg.text_cfg == {context_length: 32,
    vocab_size: '"$(($(wc -l <words.txt) - 1 + 514))"', width: 32, heads: 2, layers: 2} and
    .preprocess_cfg.resize_mode == "shortest"'
cat >contract <<'END'
ln_final.weight 32
logit_scale
positional_embedding 32 32
text_projection 32 16
token_embedding.weight 600 32
transformer.resblocks.1.attn.in_proj_weight 96 32
visual.head.proj.weight 16 32
visual.trunk.blocks.0.norm1.weight 32
visual.trunk.cls_token 1 1 32
END
ok 'tensors of images and captions have the names of open_clip' names pairs.d \
    open_clip_model.safetensors 49
ok 'the vocabulary ends without an empty line' \
    test -n "$(tail -c 1 pairs.d/vocabulary.txt)"

for run in small group mlp; do
    foil-embed --export "$run.d/" "$run" 2>"$run.err"
done
ok '--export reports an encoder that timm does not have' \
    grep -q 'timm has no such encoder' small.err
ok 'an encoder that timm does not have has no architecture' \
    has small.d/config.json '.architecture == null and
    .foil.width == 8'
foil-embed --raw -o raw.npy set.tar
if has_python numpy torch; then
    for run in resnet small group vit mlp pairs; do
        foil-embed -o "$run.npy" "$run" set.tar
    done
    ok 'in PyTorch each folder has the features of foil-embed' \
        /usr/bin/python3 "$here/folders.py" resnet small group vit mlp pairs
else
    skip 'in PyTorch each folder has the features of foil-embed' 'no python3-torch'
fi

ok '--export replaces a folder of images and captions' foil-embed --export pairs.d/ resnet
ok 'the replaced folder has no file of the old one' \
    test ! -e pairs.d/open_clip_config.json
ok 'the replaced folder has the new tensors' \
    cmp pairs.d/model.safetensors resnet.d/model.safetensors
mkdir own.d && echo mine >own.d/README.md
ok "--export refuses a folder with a user's README with 1" \
    refuses 1 'README.md that --export did not write' \
    foil-embed --export own.d/ resnet
ok 'a refused folder does not change' test "$(ls own.d)" = README.md
ok '--export DIR/ --captions exits with 2' refuses 2 'are for encoders of images' \
    foil-embed --captions --export x.d/ pairs
ok '--licence without a folder exits with 2' refuses 2 'licence is for --export DIR/' \
    foil-embed --licence mit --export x.safetensors resnet
ok '--export in a missing folder exits with 1' \
    refuses 1 'none/x.d' foil-embed --export none/x.d/ resnet
done_testing
