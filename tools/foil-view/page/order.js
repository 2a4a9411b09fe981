/* The order of a batch's images on the board and in the matrix. */

export function orderBatch(batch, by) {
  const places = batch.ids.map((_, place) => place);
  if (by === 'class')
    return places.sort((i, j) => batch.labels[i] - batch.labels[j] || i - j);
  if (by === 'likeness') return orderByLikeness(batch.cosines, places);
  return places;
}

/* Images that are alike come to stand side by side: sorted by the second
 * eigenvector of the random walk over the graph whose edges weigh
 * exp(6 cosine), found by power iteration. */
function orderByLikeness(cosines, places) {
  const n = places.length,
    weights = weighEdges(cosines, n),
    degrees = sumRows(weights, n);
  const volume = degrees.reduce((a, b) => a + b, 0);
  const rounds = Math.min(120, Math.ceil(2e7 / (n * n)));
  let x = Float64Array.from(places, i => Math.sin(i * 12.9898));
  for (let round = 0; round < rounds; round++) {
    const mean = x.reduce((sum, value, i) => sum + degrees[i] * value, 0) / volume;
    x = walkOnce(weights, degrees, x.map(value => value - mean));
  }
  return places.sort((i, j) => x[i] - x[j]);
}

function weighEdges(cosines, n) {
  const weights = new Float64Array(n * n);
  for (let i = 0; i < n; i++)
    for (let j = 0; j < n; j++)
      if (i !== j)
        weights[i * n + j] = Math.exp(3 * (cosines[i * n + j] + cosines[j * n + i]) - 6);
  return weights;
}

function sumRows(weights, n) {
  const sums = new Float64Array(n);
  for (let i = 0; i < n * n; i++) sums[Math.floor(i / n)] += weights[i];
  return sums;
}

/* One step of the lazy walk, to length 1: half stays, so that no negative
 * eigenvalue wins. */
function walkOnce(weights, degrees, x) {
  const n = x.length, y = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let sum = 0;
    for (let j = 0; j < n; j++) sum += weights[i * n + j] * x[j];
    y[i] = (x[i] + sum / degrees[i]) / 2;
  }
  const length = Math.hypot(...y) || 1;
  return y.map(value => value / length);
}
