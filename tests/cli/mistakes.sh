#!/usr/bin/env bash
# Mistakes, tool by kind: each is answered by a sentence that says what to do.
# shellcheck source=tests/tap.sh
. "${0%/*}/../tap.sh"
cd "$work" || exit 1
export PATH=$BIN:$PATH OMP_NUM_THREADS=1

# what the mistakes are about: two sets with labels, one without, features, a run
foil data generate -o set.tar --size 8 24 2>/dev/null
foil data generate -o test.tar --size 8 --seed 2 12 2>/dev/null
cp set.tar noindex.tar
mkdir photos flat classes stale empty emptyrun
tar -xf set.tar -C photos
cp photos/000000.jpg x.jpg
cp photos/*.jpg flat
for folder in classes stale; do
    mkdir "$folder/cat" "$folder/dog"
    cp photos/00000[0-4].jpg "$folder/cat"
    cp photos/00000[5-9].jpg "$folder/dog"
done
for data in set.tar test.tar photos flat classes stale; do foil data index "$data"; done 2>/dev/null
rm stale/dog/000009.jpg
echo 'remember the milk' | tee notes.txt >fake.npy
foil run simclr set.tar -r run/a --epochs 2 --batch 12 --threads 1 --augmenters 1 --size 8 \
    --arch linear --head none --checkpoint-every 2 2>/dev/null
foil embed -o a.npy run/a set.tar 2>/dev/null
cp -r run/a run/damaged
echo cut >run/damaged/step-00000004/model.safetensors
cp -r run/a run/moved
sed -i 's/set.tar/gone.tar/' run/moved/command
foil embed -o b.npy run/a test.tar 2>/dev/null
foil embed -o flat.npy run/a flat 2>/dev/null
foil embed -o classes.npy run/a classes 2>/dev/null

# answers CODE PIECE COMMAND... : the command ends with that exit code within ten
# seconds, and a line on stderr has the piece
answers() {
    local want=$1 piece=$2 got=0
    timeout "$patience" "${@:3}" </dev/null >stdout 2>stderr || got=$?
    rm -rf n
    cat stderr
    test "$got" = "$want" || { echo "exit code $got, want $want"; return 1; }
    grep -qF -e "$piece" stderr || { echo "no '$piece' on stderr"; return 1; }
}

# A row: exit code, command, a piece of the sentence that says what to do.
while IFS='|' read -r code command piece; do
    read -ra words <<<"$command"
    [[ $code == '#'* ]] || ok "is answered: $command" answers "$code" "$piece" "${words[@]}"
done <<'END'
# options of PyTorch
2|foil run simclr set.tar -r n --learning-rate 0.1|it is --lr
2|foil run simclr set.tar -r n --learning_rate 0.1|it is --lr
2|foil run simclr set.tar -r n --temperature 0.1|it is --objective ,tau=X
2|foil run simclr set.tar -r n --batch-size 32|it is --batch
2|foil run simclr set.tar -r n --bs 32|it is --batch
2|foil run simclr set.tar -r n --num-epochs 3|it is --epochs
2|foil run simclr set.tar -r n --workers 4|it is --augmenters
2|foil run simclr set.tar -r n --model resnet18|it is --arch
2|foil run simclr set.tar -r n --backbone resnet18|it is --arch
2|foil run simclr set.tar -r n --device cuda|foil computes on processors (CPUs), leave it out;
2|foil run simclr set.tar -r n --gpu 0|foil computes on processors (CPUs), leave it out;
2|foil run simclr set.tar -r n --amp|it is --precision
2|foil run simclr set.tar -r n --bf16|it is --precision
2|foil run simclr set.tar -r n --loss ntxent|it is --objective
2|foil run simclr set.tar -r n --optimizer adamw|it is --optim
2|foil run simclr set.tar -r n --wd 0.1|it is --weight-decay
2|foil run simclr set.tar -r n --scheduler cosine|it is --schedule
2|foil run simclr set.tar -r n --image-size 64|it is --size
2|foil run simclr set.tar -r n --input-size 64|it is --size
2|foil run simclr set.tar --output-dir run/x|it is --run
2|foil run simclr set.tar --save-dir run/x|it is --run
2|foil run simclr set.tar -r n --random-seed 3|it is --seed
2|foil run simclr set.tar -r n --pretrained|it is --init
2|foil run simclr set.tar -r n --ckpt x|it is --init
2|foil run simclr --data set.tar -r n|the data set is an operand: 'foil run simclr photos/'
2|foil run simclr set.tar -r n --dim 128|it is --head
2|foil run simclr set.tar -r n --embedding-dim 128|it is --head
2|foil run simclr set.tar -r n --n-views 4|it is --views
2|foil run simclr set.tar -r n --save-every 10|it is --checkpoint-every
2|foil run simclr set.tar -r n --eval-every 10|'foil eval follow -r RUN' evaluates checkpoints as they
2|foil run simclr set.tar -r n --grad-clip 1|foil does not clip gradients; --nonfinite and --warmup help
2|foil run simclr set.tar -r n --world-size 2|it is --ranks
2|foil run simclr set.tar -r n --shuffle|each epoch has an order of its own, unless --strategy sets
2|foil run simclr set.tar -r n --pin-memory|batches are made ahead by augmenters; --augmenters N sets
2|foil run simclr set.tar -r n --drop-last|it is --remainder
2|foil run simclr set.tar -r n --verbose|messages are in RUN/log; 'foil top RUN' and 'foil view RUN'
2|foil run simclr set.tar -r n --wandb|'foil runs --tensorboard DIR' writes curves, 'foil view
2|foil run simclr set.tar -r n --queue-size 65536|negatives from outside the batch: foil-negatives(1)
2|foil run simclr set.tar -r n --ema 0.99|it is --average-last
2|foil train -r n --learning-rate 0.1|it is --lr
2|foil train -r n --epochs 3|'foil run' has it, as --epochs
2|foil train -r n --batch-size 3|'foil run' has it, as --batch
2|foil train -r n --model resnet18|it is --arch
2|foil select -r n --batch-size 3 set.tar|it is --batch
2|foil augment -r n --image-size 32 set.tar|it is --size
2|foil embed --device cuda -o x.npy run/a set.tar|foil computes on processors (CPUs), leave it out;
2|foil embed --batch-size 16 -o x.npy run/a set.tar|it is --batch
2|foil embed --output-dir x run/a set.tar|it is --output
2|foil embed --out x.npy run/a set.tar|it is --output
2|foil embed --model run/a -o x.npy set.tar|a checkpoint, such as run/x, is an operand
2|foil embed --checkpoint run/a -o x.npy set.tar|a checkpoint, such as run/x, is an operand
2|foil eval knn --knn-k 5 a.npy b.npy|it is --neighbours
2|foil eval knn --num-neighbors 5 a.npy b.npy|it is --neighbours
2|foil eval probe --learning-rate 0.1 a.npy b.npy|'foil run' has it, as --lr
2|foil eval probe --epochs 3 a.npy b.npy|that is for plan
# no run, or another folder
1|foil view run/none|there is no run 'run/none'
1|foil top run/none|there is no run 'run/none'
1|foil stop run/none|there is no such folder
2|foil top run/a run/damaged|unexpected 'run/damaged': want [RUN]
2|foil view|RUN is missing: the run directory
2|foil top|RUN is missing: the run directory, or --events ENDPOINT
2|foil stop|RUN is missing: the run directory
1|foil view set.tar|want RUN, the directory of a run; 'foil runs' lists them
1|foil top set.tar|want RUN, the directory of a run; 'foil runs' lists them
1|foil top emptyrun|'foil runs' lists runs that have some
1|foil view run|'foil runs run' lists them
# other words and wrong values
2|foil trian|did you mean 'train'?
2|foil run simclear set.tar|did you mean 'simclr'?
2|foil run SimCLR set.tar|did you mean 'simclr'?
2|foil run simclr.sh set.tar|'foil' lists them
2|foil evaluate|it is 'foil eval'
2|foil infer|it is 'foil embed'
2|foil predict|it is 'foil embed'
2|foil --model x|a checkpoint, such as run/x, is an operand
2|foil eval kn a.npy|did you mean 'knn'?
2|foil eval kNN a.npy|did you mean 'knn'?
2|foil eval linear a.npy b.npy|want one of knn, neighbours, probe, zero-shot, geometry,
2|foil eval umap a.npy|did you mean 'map'?
2|foil data idnex photos|did you mean 'index'?
2|foil data create photos|want one of index, join, deal, import, generate, split,
2|foil data import cifar x|want one of idx, cifar10, cifar100, stl10, npy
2|foil run simclr set.tar -r n --epoch 3|did you mean '--epochs'?
2|foil run simclr set.tar -r n --obejctive hcl|did you mean '--objective'?
2|foil run simclr set.tar -r n -e 3|it is --epochs
2|foil run simclr set.tar -r n -b 3|it is --batch
2|foil run simclr set.tar -r n --objective ntxent|there are simclr dcl 
2|foil run simclr set.tar -r n --arch resnet-18|want one of resnet18 resnet34 resnet50 resnet8 resnet20 mlp
2|foil run simclr set.tar -r n --arch vit|want vit:WxLxP[xH], numbers up to 8192
2|foil run simclr set.tar -r n --optim rmsprop|want one of sgd|adam|adamw|lars
2|foil run simclr set.tar -r n --recipe imagenette|there are cifar imagenet emc2 emc2-imagenet isogclr
2|foil run simclr set.tar -r n --strategy hard|there are shuffle replace fixed osgd osgd-full spectral swap
2|foil run emc2 set.tar -r n --method mcmc|want one of emc2|emc2_bimodal|cache
2|foil run simclr set.tar -r n --precision fp16|want one of f32|bf16|auto
2|foil run simclr set.tar -r n --lr fast|want a number in 0 .. 1e+06
2|foil run simclr set.tar -r n --lr|--lr needs a value
2|foil run simclr set.tar -r n --lr 0.1 --lr 0.2|as '0.1' and as '0.2'
2|foil run simclr set.tar -r n --epochs 0|want a whole number in 1 .. 1000000000
2|foil run simclr set.tar -r n --epochs 1.5|want a whole number
2|foil run simclr set.tar -r n --batch 1|want a whole number in 2 .. 65535
2|foil run simclr set.tar -r n --threads -1|want a whole number
2|foil run simclr set.tar -r n --objective simclr,temperature=0.1|it is --objective simclr,tau=X
2|foil run simclr set.tar -r n --objective simclr,beta=0.1|it has tau
2|foil run simclr set.tar -r n --policy in-batch|use one of --select.policy --train.policy
2|foil run simclr set.tar -r n --resum|did you mean '--resume'?
# operands: swapped, missing, of another kind
1|foil run spectral set.tar -r n --block 0|give --strategy spectral,block=40
1|foil run simclr set.tar flat -r n|leave TEST out, or have a folder for each class
1|foil run simclr photos -r photos|choose another folder for the run, -r RUN
2|foil run|run needs the name of a pipeline, or --resume -r RUN
2|foil run simclr|needs DATA [TEST]
2|foil run set.tar|a pipeline comes first, then its data, 'foil run simclr
2|foil run photos/|a pipeline comes first, then its data, 'foil run simclr
2|foil run simclr a b c|unexpected 'c': want DATA [TEST]
1|foil run simclr none.tar -r n|cannot open 'none.tar': No such file or directory
1|foil run simclr empty -r n|no image in
1|foil run simclr x.jpg -r n|want a tar, a folder of images or a table
1|foil run simclr notes.txt -r n|between path and label a list has a tab
1|foil run simclr a.npy -r n|'foil run adapt' trains on them
1|foil run simclr run/a -r n|'run/a' is a run or a checkpoint, not a data set
1|foil run simclr set.tar -r run/a|add --resume to continue it, or choose another -r
1|foil run simclr set.tar -r notes.txt|cannot make folder 'notes.txt': File exists
1|foil run clip flat -r n|add them to its index, foil-data(1)
2|foil run ./notes.txt set.tar|unexpected 'set.tar': want [LIST]
1|foil run ./missing set.tar|no such file
2|foil embed set.tar|needs a file to write to, -o FILE
2|foil embed -o x.npy set.tar|needs CHECKPOINT and DATA, or DATA alone and --raw or
2|foil embed -o x.npy set.tar run/a|CHECKPOINT comes first, then DATA
2|foil embed -o x.npy run/a|needs CHECKPOINT and DATA, or DATA alone and --raw or
1|foil embed -o x.npy run/a none.tar|cannot open the data set 'none.tar': No such file or
1|foil embed -o x.npy run/none set.tar|cannot read 'run/none': No such file or directory
1|foil embed -o x.npy emptyrun set.tar|want a run that has one, such as run/x, or a folder step-
1|foil embed -o x.npy run/a a.npy|reads images, and 'a.npy' has rows of numbers
2|foil embed -o x.txt run/a set.tar|'x.txt' does not end in .npy, .npz, .parquet or .csv, the
1|foil embed -o none/x.npy run/a set.tar|cannot create 'none/x.npy': No such file or directory
2|foil embed run/a set.tar|needs a file to write to, -o FILE
2|foil eval knn|needs TRAIN [TEST]
1|foil eval knn photos/|'foil embed -o x.npy' makes one of the features of images
1|foil eval knn set.tar|it is no .npy file: 'foil embed -o FILE.npy DATA' and
1|foil eval knn run/a|'foil embed -o x.npy' makes one of the features of images
1|foil eval knn none.npy|cannot open 'none.npy': No such file or directory
1|foil eval knn fake.npy|it is no .npy file: 'foil embed -o FILE.npy DATA' and
1|foil eval knn flat.npy|it has no .labels.npy, and no option, such as --labels
2|foil eval knn b.npy a.npy c.npy|unexpected 'c.npy': want TRAIN [TEST]
1|foil eval knn -k 100 a.npy b.npy|want a smaller -k
2|foil eval knn -k 0 a.npy b.npy|'0' is no list of at most 32 numbers from 1 to 65536,
2|foil eval probe a.npy|needs TRAIN TEST
1|foil eval probe flat.npy a.npy|it has no .labels.npy, and no option, such as --labels
1|foil eval knn a.npy classes.npy|10 rows of 'classes.npy' are of classes that 'a.npy' does
1|foil eval retrieve a.npy b.npy|they must hold two views of each image
2|foil eval retrieve a.npy|needs VIEW VIEW
2|foil eval zero-shot a.npy|needs IMAGES CLASSES
1|foil eval zero-shot a.npy classes.npy|24 rows of 'a.npy' are of classes that 'classes.npy' does
1|foil eval loss set.tar run/a|CHECKPOINT comes first, then DATA
2|foil eval loss run/a|needs CHECKPOINT DATA
1|foil eval geometry photos|'foil embed -o x.npy' makes one of the features of images
2|foil eval map run/a|-o, --plot or --thumbnails
2|foil eval follow none|-r is missing
2|foil eval a.npy|want one of knn, neighbours, probe, zero-shot, geometry,
2|foil data index|needs PATH ...
1|foil data index x.jpg|want a tar, a folder of images or a table
1|foil data index empty|no image in
1|foil data index fake.npy|between path and label a list has a tab
1|foil data index set.tar.foil|name its data instead, or join indexes with
1|foil data info notes.txt|make one with foil-data index
2|foil data split set.tar|needs DATA PART REST
2|foil data cat set.tar|needs DATA ID
2|foil data cat set.tar 999|want a whole number in 0 .. 23
2|foil data sheet none|name the picture with -o FILE
2|foil data generate|needs COUNT
2|foil data generate lots|want a whole number in 1 .. 1000000000
2|foil data import cifar10|needs FORM FILE ...
2|foil data longtail flat|name the index with -o FILE
2|foil data vocabulary flat|name the vocabulary with -o FILE
# moved, changed and damaged
1|foil run --resume -r run/moved|give the new place by 'foil run simclr PLACE --resume
1|foil run --resume -r run/damaged|'rm -r run/damaged/step-00000004' and --resume
1|foil embed -o x.npy run/damaged set.tar|the one before is 'run/damaged/step-00000002'
1|foil embed -o x.npy run/a stale|run 'foil data index stale'
1|foil run --resume -r run/a --epochs 3|leave it out, or add --override epochs
1|foil run --resume -r run/a --batch 6|leave it out, or add --override batch
1|foil run --resume -r run/none|there is no run 'run/none'
2|foil run --resume run/a|'foil run --resume -r run/a'
2|foil run --resume|run needs the name of a pipeline, or --resume -r RUN
# a stage alone, and the rest
2|foil select set.tar|needs -r DIR or --plan ENDPOINT
1|foil train -r n --deadline 1|restart selector and augmenters if they have ended
1|foil augment -r n noindex.tar|make one with foil-data index 'noindex.tar'
2|foil train|the run directory
2|foil train -r n set.tar|unexpected 'set.tar': want options alone
2|foil select -r n|needs DATA | U.npy [V.npy]
2|foil augment|needs DATA
2|foil negatives -r n set.tar|unexpected 'set.tar': want options alone
1|foil run simclr set.tar -r n --views 4|foil-augment makes 4 views of each image, and foil-train
1|foil train --config none -r n|cannot open 'none': No such file or directory
2|foil train --config notes.txt -r n|no option '--remember'
1|foil run simclr set.tar --config none|cannot open 'none': No such file or directory
2|foil tap events|where are the events? -r DIR or an endpoint
1|foil tap events run/a|'run/a', want tcp://HOST:PORT or ipc://PATH
1|foil tap show none|cannot open 'none': No such file or directory
1|foil tap show notes.txt|'notes.txt' is not a recording of foil-tap
2|foil tap check|needs events [ENDPOINT], proxy HERE THERE, show FILE,
2|foil tap check trainer|there are select augment train negatives
2|foil help trian|did you mean 'train'?
2|foil help nothing|'foil' lists them
2|foil knn|it is 'foil eval knn'
2|foil index photos|it is 'foil data index'
# a second list, which was written without a look at the first
2|foil run simclr set.tar -r n --nepochs 10|did you mean '--epochs'?
2|foil run simclr set.tar -r n --n_workers 2|it is --augmenters
2|foil run simclr set.tar -r n --lr=0,1|want a number in 0 .. 1e+06
2|foil run simclr set.tar -r n --accelerator gpu|foil computes on processors (CPUs)
2|foil run simclr set.tar -r n --tau 0|tau '0': want a number in
2|foil run simclr set.tar -r n --optim SGD|want one of sgd|adam|adamw|lars
2|foil run simclr set.tar -r n --arch resnet18.pth|want one of resnet18 resnet34
2|foil run simclr set.tar -r n --image_size 32x32|it is --size
2|foil run simclr set.tar -r n --gamma 0.9|it has tau
2|foil run simclr set.tar -r n --no-augment|--recipe none
2|foil run simclr set.tar -r n --early-stopping|'foil stop RUN'
2|foil run simclr set.tar -r n --num-classes 10|evaluations count the classes themselves
1|foil run simclr set.tar -r n --labels none.npy|cannot open 'none.npy'
1|foil run simclr https://example.org/set.tar -r n|cannot open 'https://example.org/set.tar'
2|foil run simclr set.tar test.tar more.tar -r n|want DATA [TEST]
1|foil run simclr set.tar none.tar -r n|cannot open 'none.tar'
2|foil run cifar10|did you mean 'cifar'?
2|foil run moco set.tar|'foil' lists them
2|foil run simclr set.tar -r n --epochs|--epochs needs a value
1|foil run --resume -r set.tar|correct -r, or start a run with 'foil run PIPELINE DATA'
1|foil run --resume -r run/a/latest|correct -r, or start a run with 'foil run PIPELINE DATA'
2|foil run simclr --resume|needs DATA [TEST], or -r and the run to continue
1|foil stop set.tar|want RUN, the directory of a run
1|foil top a.npy|want RUN, the directory of a run
1|foil view run/a/latest|want RUN, the directory of its run
1|foil view --compare run/none run/a|there is no run 'run/none'
2|foil view --port http run/a|want a whole number in 0 .. 65535
2|foil view --host 0.0.0.0 run/a|it is --address
2|foil train --data set.tar -r n|the data set is an operand
2|foil embed run/a set.tar out.npy|want [CHECKPOINT] [DATA]
1|foil embed -o x.npy run/a/model.safetensors set.tar|cannot read 'run/a/model.safetensors'
2|foil embed -o x.npy --layer avgpool run/a set.tar|want one of h|z
2|foil embed -o x.pt run/a set.tar|.npy, .npz, .parquet or .csv, the formats of features
2|foil eval knn a.npy b.npy --k 5|it is --neighbours
1|foil eval knn run/a set.tar|'foil embed -o x.npy' makes one
2|foil eval probe a.npy b.npy --protocol sgd|want one of lbfgs|emc2
2|foil eval map a.npy -o map.jpg|--plot draws a picture
2|foil data index photos --labels x.csv|labels are folders of images, or a column of a table
2|foil data split set.tar train test --ratio 0.8|it is --share
1|foil data info run/a|'run/a' is a run or a checkpoint, not a data set
2|foil data cat set.tar 000003.jpg|want a whole number in 0 .. 23
2|foil data import cifar10 photos|name the tar with -o FILE
2|foil augment set.tar --sheet|--sheet needs a value: FILE
2|foil tensorboard|it is 'foil runs --tensorboard DIR'
END
done_testing
