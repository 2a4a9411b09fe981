"""naive_loss.py FOIL-EMBED RECIPE: the loss of a linear encoder and its gradient,
computed naively in double from the same views.  Compares them with linear.line, the
output of `foil eval loss`; the exit code is the number of wrong figures."""
import json, subprocess, sys
import numpy as np

embed, recipe = sys.argv[1:]
line = json.load(open('linear.line'))
x = []
for view in '0', '1':
    subprocess.run([embed, '--raw', '--recipe', recipe, '--size', '16',
                    '--view', view, '-o', 'v.npy', 'set.tar'], check=True)
    x.append(np.load('v.npy').astype(float))
colour = line['encoder']
x = np.concatenate(x).reshape(-1, 256, 3)
x = ((x - colour['mean']) / colour['deviation']).transpose(0, 2, 1)
x = x.reshape(len(x), -1)
raw = open('linear/latest/model.safetensors', 'rb').read()
size = int.from_bytes(raw[:8], 'little')
head = json.loads(raw[8:8 + size])


def tensor(name):
    a, b = head[name]['data_offsets']
    t = np.frombuffer(raw[8 + size:][a:b], '<f4').astype(float)
    return t.reshape(head[name]['shape'])


w, b = tensor('fc.weight'), tensor('fc.bias')
n = len(x)
bad = 0


def check(want, beta, inside):
    global bad
    z = x @ w.T + b
    length = np.linalg.norm(z, axis=1, keepdims=True)
    v = z / length
    s = beta * v @ v.T
    partner = (np.arange(n) + n // 2) % n
    own = np.arange(n)
    e = np.exp(s)
    e[own, own] = 0
    if not inside:
        e[own, partner] = 0
    value = np.mean(np.log(e.sum(1)) - s[own, partner])
    g = e / e.sum(1, keepdims=True)
    g[own, partner] -= 1
    g *= beta / n
    dv = (g + g.T) @ v
    dz = (dv - (dv * v).sum(1, keepdims=True) * v) / length
    square = ((dz.T @ x) ** 2).sum() + (dz.sum(0) ** 2).sum()
    print(value, want['loss'], square, want['square_gradient'])
    bad += abs(value / want['loss'] - 1) > 1e-5
    bad += abs(square / want['square_gradient'] - 1) > 1e-4


check(line, 5, 0)
check(line['released'], 25, 1)
sys.exit(int(bad))
