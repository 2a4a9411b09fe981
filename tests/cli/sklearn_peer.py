"""sklearn_peer.py FOIL-EVAL: compares neighbours and probes on random features with those
of scikit-learn.  The exit code is the number of differences."""
import json, os, subprocess, sys
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

rng = np.random.default_rng(0)
spread = 10 ** rng.uniform(-1, 1, 24)
sets = []
for name, n in ('a', 3000), ('b', 500):
    y = rng.integers(0, 7, n)
    x = rng.normal(size=(n, 24)) + (np.arange(24) % 7 == y[:, None])
    x = (x * spread + 3).astype('f4')
    np.save(name + '.npy', x)
    np.save(name + '.labels.npy', y)
    sets += [x, y]
x, y, test_x, test_y = sets
x64, test64 = x.astype('f8'), test_x.astype('f8')


def ours(*args):
    out = subprocess.run([sys.argv[1], *args, 'a.npy', 'b.npy'], check=True,
                         stdout=subprocess.PIPE).stdout
    return [json.loads(line) for line in out.splitlines()]


bad = 0
for metric in 'cosine', 'euclidean':
    for line in ours('knn', '-k', '1,2,10,50', '--metric', metric):
        knn = KNeighborsClassifier(line['k'], metric=metric, algorithm='brute')
        want = knn.fit(x64, y).score(test64, test_y)
        print(metric, line['k'], line['accuracy'], want)
        bad += abs(line['accuracy'] - want) > 1e-8
scale = StandardScaler().fit(x64)
x64, test64 = scale.transform(x64), scale.transform(test64)
for l2 in 1e-1, 1e-3, 1e-5:
    line = ours('probe', '--l2', str(l2))[0]
    fit = LogisticRegression(C=1 / (len(y) * l2), tol=1e-7, max_iter=10000)
    fit.fit(x64, y)
    loss = log_loss(y, fit.predict_proba(x64)) + l2 / 2 * (fit.coef_**2).sum()
    want = fit.score(test64, test_y)
    print('probe', l2, line['accuracy'], want, line['loss'], loss)
    bad += abs(line['accuracy'] - want) > .005 or abs(line['loss'] - loss) > 1e-3
sys.exit(int(bad))
