"""mixed.py SET.tar FOLDER FILES: makes a folder of that many files from the images of a
tar of foil-data generate: JPEG, PNG (16 bits, transparent, grey), WebP, other images,
texts, labels and captions next to images, damaged and empty files, links to files,
dangling links and a circular link, in class folders and deeper.  Prints the number of
files of each kind as JSON."""
import io
import json
import os
import sys
import tarfile

from PIL import Image

source, folder, files = sys.argv[1], sys.argv[2], int(sys.argv[3])
with tarfile.open(source) as tar:
    members = {m.name: tar.extractfile(m).read() for m in tar if m.isfile()}
names = sorted({name.split(".")[0] for name in members})
count = dict.fromkeys(["samples", "bad", "beside", "skipped"], 0)
made = 0


def write(kind, path, data):
    global made
    path = os.path.join(folder, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    count[kind] += 1
    made += 1


def link(kind, path, to):
    global made
    os.symlink(to, os.path.join(folder, path))
    count[kind] += 1
    made += 1


def encoded(image, form, **how):
    data = io.BytesIO()
    image.save(data, form, **how)
    return data.getvalue()


i = 0
while made < files:
    name, left = names[i % len(names)], files - made
    jpeg = members[name + ".jpg"]
    kind = int(members[name + ".cls"])
    at = f"class{kind}/{'deep/er/' * (i % 3 == 0)}{i:05d}"
    image = Image.open(io.BytesIO(jpeg)).convert("RGB")
    what = i % 20
    if what < 8:
        write("samples", at + (".JPG" if what == 7 else ".jpg"), jpeg)
    elif what == 8:
        write("samples", at + ".png", encoded(image, "PNG"))
    elif what == 9:
        clear = image.copy()
        clear.putalpha(128)
        write("samples", at + ".png", encoded(clear, "PNG"))
    elif what == 10:
        deep = Image.new("I;16", image.size)
        deep.putdata([257 * p for p in image.convert("L").getdata()])
        write("samples", at + ".png", encoded(deep, "PNG"))
    elif what == 11:
        write("samples", at + ".webp", encoded(image, "WEBP"))
    elif what == 12 and left >= 2:
        write("samples", at + ".jpg", jpeg)
        write("beside", at + ".txt", members[name + ".txt"])
    elif what == 13:
        write("skipped", at + ".gif", encoded(image, "GIF"))
    elif what == 14:
        write("skipped", at + ".md", b"# notes\n")
    elif what == 15:
        write("bad", at + ".jpg", jpeg[:40])
    elif what == 16:
        write("bad", at + ".png", b"")
    elif what == 17 and left >= 2:
        write("samples", at + ".jpg", jpeg)
        link("samples", at + "-link.jpg", os.path.basename(at) + ".jpg")
    elif what == 18:
        os.makedirs(os.path.join(folder, os.path.dirname(at)), exist_ok=True)
        link("bad", at + "-lost.jpg", "nowhere.jpg")
    elif what == 19 and i < 40:
        os.makedirs(os.path.join(folder, os.path.dirname(at)), exist_ok=True)
        link("bad", at + "-circle", ".")
    else:
        write("skipped", at + ".csv", b"a,b\n")
    i += 1
print(json.dumps(dict(count, files=made)))
