/* The order of a batch's images on the board and in the matrix. */

export function orderBatch(batch, by) {
  const places = batch.ids.map((_, place) => place);
  if (by === 'class')
    return places.sort((i, j) => batch.labels[i] - batch.labels[j] || i - j);
  if (by === 'similarity') return orderBySimilarity(batch.cosines, places);
  return places;
}

/* Puts similar images next to each other: sorts them by the second eigenvector of the
 * random walk over a graph with edges exp(6 cosine), by power iteration. */
function orderBySimilarity(cosines, places) {
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

/* One step of the lazy walk, scaled to length 1. Half of x stays, so that negative
 * eigenvalues do not dominate. */
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
