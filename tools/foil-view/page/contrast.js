/* Computes from the embeddings of a batch: cosines, the most similar pairs, and the
 * weights of an anchor's negatives. A row is view * n + place. */

/** n images with their classes, -1: none, and unit vectors z, [views, n, d]. With texts,
 * view 0 is the images and view 1 their texts.
 * @typedef {{ids: number[], labels: number[], views: number, texts?: string[],
 *   z: Float32Array}} Batch */

/** Two places, the greater cosine of their views, and whether they have the same class.
 * @typedef {[number, number, number, boolean]} Pair */

/** A negative that a sampler drew; row: null if it is outside the batch.
 * @typedef {{id: number, label: number, view: number, epoch: number, weight: number,
 *   cosine: number, row: number | null}} Drawn */

const PAIRS = 24, NEGATIVES = 14;

/* Tables and downloads have six digits. */
const round = x => Number(x.toPrecision(6));

const isSame = (label, other) => label >= 0 && label === other;

/** The cosines of views 0 with views 1, or with views 0 if there is one view: [n, n].
 * @param {Batch} batch */
export function compareViews({ ids, views, z }) {
  const n = ids.length, d = z.length / views / n, cosines = new Float32Array(n * n);
  const a = Float64Array.from(z.subarray(0, n * d)),
    b = views > 1 ? Float64Array.from(z.subarray(n * d, 2 * n * d)) : a;
  // two by two rows take a fifth of the time; for an odd n the last row is done twice
  for (let i = 0; i < n; i += 2)
    for (let j = 0; j < n; j += 2) {
      const i1 = Math.min(i + 1, n - 1), j1 = Math.min(j + 1, n - 1);
      let s00 = 0, s01 = 0, s10 = 0, s11 = 0;
      for (let k = 0; k < d; k++) {
        const a0 = a[i * d + k], a1 = a[i1 * d + k];
        const b0 = b[j * d + k], b1 = b[j1 * d + k];
        s00 += a0 * b0;
        s01 += a0 * b1;
        s10 += a1 * b0;
        s11 += a1 * b1;
      }
      cosines[i * n + j] = s00;
      cosines[i * n + j1] = s01;
      cosines[i1 * n + j] = s10;
      cosines[i1 * n + j1] = s11;
    }
  return cosines;
}

/** The most similar pairs of different images, most similar first.
 * @param {Batch} batch
 * @param {Float32Array} cosines
 * @returns {Pair[]} */
export function findPairs({ ids, labels }, cosines) {
  const n = ids.length, list = [];
  for (let i = 0; i < n; i++)
    for (let j = i + 1; j < n; j++) {
      const cosine = Math.max(cosines[i * n + j], cosines[j * n + i]);
      if (ids[i] === ids[j]) continue;
      if (list.length === PAIRS && cosine <= list[PAIRS - 1][2]) continue;
      const at = list.findIndex(pair => pair[2] < cosine);
      list.splice(at < 0 ? list.length : at, 0, [i, j, cosine]);
      list.length = Math.min(list.length, PAIRS);
    }
  return list.map(([i, j, cosine]) =>
    [i, j, round(cosine), isSame(labels[i], labels[j])]);
}

/** The share of pairs of places with the same class; null if there are no classes.
 * @param {number[]} labels */
export function shareClasses(labels) {
  const n = labels.length, counts = new Map();
  for (const label of labels)
    if (label >= 0) counts.set(label, (counts.get(label) ?? 0) + 1);
  const same = [...counts.values()].reduce((sum, count) => sum + count * (count - 1), 0);
  return counts.size && n > 1 ? same / n / (n - 1) : null;
}

/** Adds what panels show of a whole batch: {cosines, pairs, own, same}.
 * @param {Batch} batch */
export function describeBatch(batch) {
  const cosines = compareViews(batch), n = batch.ids.length;
  return {
    ...batch,
    cosines,
    pairs: findPairs(batch, cosines),
    own: batch.ids.map((_, i) => round(cosines[i * n + i])),
    same: shareClasses(batch.labels),
  };
}

/** The number of cosines in each bin from -1 to 1.
 * @param {Iterable<number>} cosines */
export function countBins(cosines, bins = 40) {
  const counts = Array(bins).fill(0);
  for (const cosine of cosines)
    counts[Math.max(0, Math.min(bins - 1, Math.floor(((cosine + 1) * bins) / 2)))]++;
  return counts;
}

/** The negatives of a row, which are all rows of other images, or with texts only those
 * of the other kind; its cosines with all rows; and the weights of all rows:
 * exp(beta cosine) over the sum for all negatives, 0 for other rows.
 * @param {Batch} batch
 * @param {number} row
 * @param {number} beta */
function weighRow({ ids, views, texts, z }, row, beta) {
  const n = ids.length, size = views * n, d = z.length / size, first = row * d;
  const cosines = new Float32Array(size), weights = new Float64Array(size);
  for (let c = 0; c < size; c++) {
    let cosine = 0;
    for (let k = 0; k < d; k++) cosine += z[first + k] * z[c * d + k];
    cosines[c] = cosine;
  }
  const negatives = [...cosines.keys()].filter(c => ids[row % n] !== ids[c % n] &&
    !(texts && Math.floor(row / n) === Math.floor(c / n)));
  const most = negatives.reduce((max, c) => Math.max(max, cosines[c]), -1);
  for (const c of negatives) weights[c] = Math.exp(beta * (cosines[c] - most));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return { cosines, negatives, weights: weights.map(weight => weight / (sum || 1)) };
}

/** An anchor with its heaviest negatives by the softmax, and with the negatives that a
 * sampler drew, each with its softmax.
 * @param {Batch & {epoch: number, step: number}} batch
 * @param {number} row
 * @param {number} beta
 * @param {{drawn: {negatives: Drawn[]} | null,
 *   trail: {states: {label: number}[]}[]}} known */
export function describeAnchor(batch, row, beta, { drawn, trail }) {
  const { ids, labels, views, epoch, step } = batch, n = ids.length;
  const { cosines, negatives, weights } = weighRow(batch, row, beta);
  const label = labels[row % n], sum = list => list.reduce((a, c) => a + weights[c], 0);
  const addSame = one => ({ ...one, same: isSame(label, one.label) });
  const heaviest = negatives.filter(c => weights[c] > 0)
    .sort((a, b) => weights[b] - weights[a]).slice(0, NEGATIVES);
  const squares = weights.reduce((a, weight) => a + weight ** 2, 0);
  return {
    row,
    id: ids[row % n],
    label,
    view: Math.floor(row / n),
    epoch,
    step,
    beta,
    own: views > 1 ? cosines[(row + n) % (views * n)] : 1,
    negatives: heaviest.map(c => addSame({
      id: ids[c % n],
      label: labels[c % n],
      view: Math.floor(c / n),
      column: c % n,
      cosine: round(cosines[c]),
      weight: round(weights[c]),
    })),
    mass: {
      shown: sum(heaviest),
      same: label < 0 ? null : sum(negatives.filter(c => labels[c % n] === label)),
      effective: squares > 0 ? 1 / squares : 0,
    },
    histogram: countBins(negatives.map(c => cosines[c])),
    drawn: drawn && {
      ...drawn,
      negatives: drawn.negatives.map(one =>
        addSame({ ...one, softmax: one.row == null ? null : round(weights[one.row]) })),
    },
    trail: trail.map(visit => ({ ...visit, states: visit.states.map(addSame) })),
  };
}
