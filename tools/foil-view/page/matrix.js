/* The matrix of cosines between all first views and all second views. */

import { pickAnchor } from './batch.js';
import { countBins } from './contrast.js';
import { addDownloads } from './download.js';
import { find, findAll, formatCosine, make, phrase } from './dom.js';
import { nameOf, onChange, run } from './model.js';
import { makeTile } from './picture.js';
import { drawHistogram } from './histogram.js';

/* Cividis, a colour map for colour-blind readers: -1 dark blue, 1 yellow. */
const STOPS = [
  [0, 32, 76],
  [49, 68, 107],
  [102, 105, 112],
  [149, 143, 120],
  [203, 186, 105],
  [255, 234, 70],
];
const PALETTE = Uint32Array.from({ length: 256 }, (_, i) =>
  packColour(mixStops((i / 255) * (STOPS.length - 1))),
);

function mixStops(at) {
  const k = Math.min(STOPS.length - 2, Math.floor(at));
  return STOPS[k].map((from, c) => from + (STOPS[k + 1][c] - from) * (at - k));
}

/* The pixel of a canvas: red first, opaque. */
function packColour(channels) {
  const bytes = Uint8ClampedArray.of(...channels, 255);
  return new Uint32Array(bytes.buffer)[0];
}

const section = find('#matrix'), canvas = find('canvas', section);

export function startMatrix() {
  addDownloads(section, listCosines);
  onChange('batch', drawMatrix);
  canvas.onpointermove = event => showCell(cellAt(event));
  canvas.onpointerleave = () => showCell(null);
  canvas.onclick = event => pickAnchor(placeAt(cellAt(event).row));
  section.hidden = !run.batch?.known;
}

/* The board, which started first, has set the order. */
function drawMatrix() {
  const { batch } = run;
  section.hidden = !batch.known;
  if (!batch.known) return;
  find('h2 small', section).textContent = batch.texts ? 'cosines of images (rows) and texts (columns)' : 'cosines of first views (rows) and second views (columns)';
  paintCells(batch);
  describeMatrix(batch);
  showCell(null);
}

function paintCells({ cosines, order }) {
  const n = order.length,
    image = new ImageData(n, n),
    pixels = new Uint32Array(image.data.buffer);
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++)
      pixels[y * n + x] =
        PALETTE[Math.round((cosines[order[y] * n + order[x]] + 1) * 127.5)];
  canvas.width = canvas.height = n;
  canvas.getContext('2d').putImageData(image, 0, 0);
}

function describeMatrix({ cosines, ids }) {
  const n = ids.length, own = [], others = [];
  cosines.forEach((cosine, i) => (i % (n + 1) ? others : own).push(cosine));
  const mean = values => formatCosine(values.reduce((a, b) => a + b, 0) / values.length);
  find('.text', section).replaceChildren(
    `Diagonal: positives, ${run.batch.texts ? 'an image and its text' : 'the two views of an image'}, `,
    ...phrase`mean ${mean(own)}. `,
    ...phrase`Other cells: negatives, mean ${mean(others)}. `,
    'Bright cells off the diagonal are images that the encoder cannot distinguish yet.');
  canvas.ariaLabel = `Similarity matrix of ${n} images: mean cosine of positives ${mean(own)}, of negatives ${mean(others)}`;
  drawHistogram(find('.histogram', section), `Cosines of negatives and positives. ${canvas.ariaLabel}`, [
    { name: 'negatives', counts: countBins(others), colour: 'var(--soft)' },
    { name: 'positives', counts: countBins(own), colour: 'var(--near)' }]);
}

/* ---- the cell at the mouse ---- */

function cellAt(event) {
  const area = canvas.getBoundingClientRect(), n = canvas.width;
  const index = share => Math.max(0, Math.min(n - 1, Math.floor(share * n)));
  return {
    row: index((event.clientY - area.top) / area.height),
    column: index((event.clientX - area.left) / area.width),
  };
}

const placeAt = index => run.batch.order[index];

function showCell(cell) {
  showLines(cell);
  find('.cell', section).replaceChildren(
    ...(cell
      ? describeCell(placeAt(cell.row), placeAt(cell.column))
      : ['Point at a cell to see its pair; click it to make its image the anchor.']),
  );
}

/* Two lines over the canvas cross in the cell. */
function showLines(cell) {
  const [row, column] = findAll('.cells i', section), n = canvas.width;
  row.hidden = column.hidden = !cell;
  if (!cell) return;
  Object.assign(row.style, { top: `${100 * cell.row / n}%`, height: `${100 / n}%` });
  Object.assign(column.style, {
    left: `${(100 * cell.column) / n}%`,
    width: `${100 / n}%`,
  });
}

function describeCell(i, j) {
  const { batch } = run, { ids, labels, cosines } = batch;
  const name = place =>
    labels[place] < 0 ? `image ${ids[place]}` : `${nameOf(labels[place])} ${ids[place]}`;
  const cosine = formatCosine(cosines[i * ids.length + j]);
  const words =
    i === j
      ? phrase`${name(i)}, ${batch.texts ? 'image and text' : 'both views'}: cosine ${cosine}`
      : phrase`${name(i)} and ${batch.texts ? 'the text of ' : ''}${name(j)}: cosine ${cosine}`;
  if (i !== j && labels[i] >= 0 && labels[i] === labels[j]) words.push(', same class');
  return [makeTile(batch, i, 0), makeTile(batch, j, 1), make('span', {}, ...words)];
}

function listCosines() {
  const { ids, cosines, order } = run.batch, n = ids.length;
  return [['image', ...order.map(j => ids[j])],
    ...order.map(i => [ids[i], ...order.map(j => cosines[i * n + j].toFixed(3))])];
}
