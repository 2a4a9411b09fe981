"""An encoder by foil-encoder(5) with one fault.
usage: faulty_encoder.py WAY

A way is a row of WAYS: a request, the number of its occurrence from 1 on, and an action.
A text is written as the answer.  A function is called; if it returns None, the request
is answered correctly.
"""
import mmap
import os
import random
import signal
import struct
import sys
import time

DIM = 8
TENSOR = "tensor a parameter %dx4\n" % DIM


class Encoder:
    """Has no weights to train: embeddings are random numbers."""

    def __init__(self):
        self.memory, self.at, self.factor = None, {}, 0.1

    def open(self, words):
        return TENSOR + f"ok dim={DIM}"

    def layout(self, words):
        self.at = {name: int(value) for name, value in words.items()}
        file = os.open(os.environ["FOIL_MEMORY"], os.O_RDWR)
        self.memory = mmap.mmap(file, self.at["size"])
        os.close(file)
        return "ok"

    def forward(self, words):
        first, end = int(words["from"]), int(words["to"])
        z = [self.factor * random.gauss(0, 1) for _ in range((end - first) * DIM)]
        at = self.at["z"] + 4 * DIM * first
        self.memory[at:at + 4 * len(z)] = struct.pack(f"{len(z)}f", *z)
        return "ok"

    def norm(self, words):
        return "ok norm=1.5 steady=1"

    def get(self, words):
        return "ok steps=0"

    def save(self, path):
        with open(path, "w") as file:
            file.write("state")
        return "ok"

    def answer(self, word, rest):
        if word in ("save", "load", "init"):
            words = rest
        else:
            words = dict(w.split("=", 1) for w in rest.split())
        return getattr(self, word, lambda words: "ok")(words)


def write_forever(file, text):
    def write(encoder, rest):
        while True:
            file.write(text)
    return write


def write_tensors_forever(encoder, rest):
    n = 0
    while True:
        n += 1
        sys.stdout.write(f"tensor t{n} parameter 1\n")


def truncate_memory(size):
    def truncate(encoder, rest):
        file = os.open(os.environ["FOIL_MEMORY"], os.O_RDWR)
        try:
            os.ftruncate(file, size)
        except OSError as error:
            sys.stderr.write(f"truncate: {error}\n")
        os.close(file)
    return truncate


def fill_memory(encoder, rest):
    encoder.memory[:] = b"\xff" * len(encoder.memory)
    return "ok"


def scale_by(factor):
    def scale(encoder, rest):
        encoder.factor = factor
    return scale


def sleep(encoder, rest):
    time.sleep(1000)


def close_and_sleep(fd):
    def close(encoder, rest):
        os.close(fd)
        time.sleep(1000)
    return close


def leave_session(encoder, rest):
    """Leaves a process in another session and group, with another parent."""
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        for fd in range(3):
            os.close(fd)
        time.sleep(1000)
    os.wait()
    sys.exit(3)


def save_beside(encoder, path):
    for name in "model.safetensors", "extra":
        with open(f"{os.path.dirname(path)}/{name}", "w") as file:
            file.write("junk")


def save_as(make):
    def save(encoder, path):
        make(path)
        return "ok"
    return save


HUGE = 10**23
WAYS = {
    "good": ("open", 1, lambda encoder, rest: None),
    # the answer to open
    "no-dim": ("open", 1, TENSOR + "ok"),
    "dim-zero": ("open", 1, "ok dim=0"),
    "dim-negative": ("open", 1, TENSOR + "ok dim=-5"),
    "dim-huge": ("open", 1, TENSOR + f"ok dim={HUGE}"),
    "shape-huge": ("open", 1, "tensor a parameter 1000000x1000000\nok dim=8"),
    "shape-overflows": ("open", 1,
                        "tensor a parameter 4294967296x4294967296x4x4\nok dim=8"),
    "shape-zero": ("open", 1, "tensor a parameter 0x4\nok dim=8"),
    "shape-negative": ("open", 1, "tensor a parameter -4x4\nok dim=8"),
    "same-name": ("open", 1, TENSOR + TENSOR + "ok dim=8"),
    "odd-name": ("open", 1, 'tensor ../../x"\\ parameter 4\nok dim=8'),
    "many-tensors": ("open", 1, write_tensors_forever),
    "same-line": ("open", 1, write_forever(sys.stdout, "hello\n")),
    "long-line": ("open", 1, write_forever(sys.stdout, "a" * 65536)),
    "long-engine": ("open", 1, TENSOR + "ok dim=8 engine=" + "e" * 10**6),
    "escapes": ("open", 1, "error \x1b[31mred\x1b]0;title\x07"),
    "zero-byte": ("open", 1, "tensor a\0b parameter 4\nok dim=8"),
    "many-answers": ("open", 1, TENSOR + "ok dim=8\n" * 1000 + "ok"),
    "silent-open": ("open", 1, sleep),
    "other-shape": ("open", 1, "tensor a parameter 4x4\nok dim=8"),
    "other-name": ("open", 1, f"tensor b parameter {DIM}x4\nok dim=8"),
    # the state of a checkpoint
    "put-error": ("put", 1, "error no space on the device"),
    "load-error": ("load", 1, "error not a state of mine"),
    "load-dies": ("load", 1, lambda encoder, rest: sys.exit(3)),
    "get-changes": ("get", 2, fill_memory),
    # the memory
    "smaller-memory": ("layout", 1, truncate_memory(0)),
    "larger-memory": ("layout", 1, truncate_memory(1 << 40)),
    "junk-memory": ("forward", 3, fill_memory),
    # a step
    "nan": ("forward", 3, scale_by(float("nan"))),
    "infinite": ("forward", 3, scale_by(float("inf"))),
    "silent": ("forward", 3, sleep),
    "stopped": ("forward", 3,
                lambda encoder, rest: os.kill(os.getpid(), signal.SIGSTOP)),
    "ends": ("forward", 3, lambda encoder, rest: sys.exit(0)),
    "killed": ("forward", 3,
               lambda encoder, rest: os.kill(os.getpid(), signal.SIGKILL)),
    "closes-output": ("forward", 3, close_and_sleep(1)),
    "closes-input": ("forward", 3, close_and_sleep(0)),
    "leaves-session": ("forward", 3, leave_session),
    "unasked": ("forward", 3, "ok\nok\nok"),
    "floods": ("forward", 3, write_forever(sys.stderr, "spam " * 200 + "\n")),
    "norm-nan": ("norm", 2, "ok norm=nan steady=1"),
    "norm-infinite": ("norm", 2, "ok norm=inf steady=1"),
    "norm-negative": ("norm", 2, "ok norm=-1 steady=1"),
    "norm-junk": ("norm", 2, "ok norm=1e steady=1"),
    "norm-long": ("norm", 2, f"ok norm=1{'0' * 5000} steady=1"),
    "steady-7": ("norm", 2, "ok norm=1 steady=7"),
    # a checkpoint
    "steps-negative": ("get", 1, "ok steps=-3"),
    "steps-huge": ("get", 1, f"ok steps={HUGE}"),
    "saves-nothing": ("save", 1, "ok"),
    "saves-folder": ("save", 1, save_as(os.mkdir)),
    "saves-link": ("save", 1,
                   save_as(lambda path: os.symlink("/etc/hostname", path))),
    "saves-pipe": ("save", 1, save_as(os.mkfifo)),
    "pipe-beside": ("save", 1, lambda encoder, path: os.mkfifo(path + ".more")),
    "link-beside": ("save", 1,
                    lambda encoder, path: os.symlink(__file__, path + ".more")),
    "saves-more": ("save", 1, save_beside),
}


def main(way):
    request, which, what = WAYS[way]
    encoder, count = Encoder(), 0
    for line in sys.stdin:
        word, _, rest = line.rstrip("\n").split(" ", 2) + [""] * (line.count(" ") < 2)
        answer = None
        count += word == request
        if word == request and count == which:
            answer = what if isinstance(what, str) else what(encoder, rest)
        print(answer or encoder.answer(word, rest), flush=True)


main(sys.argv[1])
