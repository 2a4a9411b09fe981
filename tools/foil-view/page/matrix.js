/* The matrix of cosines of all first views with all second views. */

import { addDownloads } from './download.js';
import { find, make, say } from './dom.js';
import { nameOf, onChange, pickAnchor, run } from './model.js';
import { makeTile } from './picture.js';
import { countBins, drawSpread } from './spread.js';

/* Cividis, which reads alike for the colour-blind: -1 dark blue, 1 yellow. */
const STOPS = [[0, 32, 76], [49, 68, 107], [102, 105, 112], [149, 143, 120], [203, 186, 105], [255, 234, 70]];
const PALETTE = Array.from({ length: 256 }, (_, i) => mixStops(i / 255 * (STOPS.length - 1)));

function mixStops(at) {
  const k = Math.min(STOPS.length - 2, Math.floor(at));
  return STOPS[k].map((from, c) => from + (STOPS[k + 1][c] - from) * (at - k));
}

const section = find('#matrix'), canvas = find('canvas', section);

export function startMatrix() {
  addDownloads(section, listCosines);
  onChange('batch', drawMatrix);
  canvas.onpointermove = event => showCell(cellAt(event));
  canvas.onpointerleave = () => showCell(null);
  canvas.onclick = event => pickAnchor(cellAt(event)[0]);
  section.hidden = !run.batch?.known;
}

/* The board has set the order by now: it started first. */
function drawMatrix() {
  const { batch } = run;
  section.hidden = !batch.known;
  if (!batch.known) return;
  paintCells(batch, null);
  describeMatrix(batch);
  showCell(null);
}

/* Cosines of cell [row, column] in the order on the board; the row and column
 * of the cell that is pointed at are lighter. */
function paintCells({ cosines, order }, cell) {
  const n = order.length;
  canvas.width = canvas.height = n;
  const context = canvas.getContext('2d'), image = context.createImageData(n, n);
  for (let y = 0; y < n; y++)
    for (let x = 0; x < n; x++) {
      const colour = PALETTE[Math.round((cosines[order[y] * n + order[x]] + 1) * 127.5)];
      const light = cell && (order[y] === cell[0] || order[x] === cell[1]) ? .35 : 0;
      image.data.set([...colour.map(c => c + (255 - c) * light), 255], 4 * (y * n + x));
    }
  context.putImageData(image, 0, 0);
}

function describeMatrix({ cosines, ids }) {
  const n = ids.length, own = [], others = [];
  cosines.forEach((cosine, i) => (i % (n + 1) ? others : own).push(cosine));
  const mean = values => (values.reduce((a, b) => a + b, 0) / values.length).toFixed(2);
  find('.say', section).replaceChildren(...say`On the diagonal is each image with its own other view: ${mean(own)} on average. All other cells are negatives: ${mean(others)} on average. Bright cells off the diagonal are images that the encoder cannot tell apart yet.`);
  canvas.ariaLabel = `Similarities of ${n} images: ${mean(own)} on average with the own other view, ${mean(others)} with other images`;
  drawSpread(find('.spread', section), `Cosines of negatives and of own pairs. ${canvas.ariaLabel}`, [
    { name: 'negatives', counts: countBins(others), colour: 'var(--soft)' },
    { name: 'own pairs', counts: countBins(own), colour: 'var(--near)' }]);
}

/* ---- the cell that is pointed at ---- */

function cellAt(event) {
  const { order } = run.batch, area = canvas.getBoundingClientRect();
  const place = share => order[Math.max(0, Math.min(order.length - 1, Math.floor(share * order.length)))];
  return [place((event.clientY - area.top) / area.height), place((event.clientX - area.left) / area.width)];
}

function showCell(cell) {
  paintCells(run.batch, cell);
  find('.cell', section).replaceChildren(...cell ? describeCell(cell) : ['Point at a cell to see its two views; click it to make its image the anchor.']);
}

function describeCell([i, j]) {
  const { batch } = run, { ids, labels, cosines } = batch;
  const name = place => labels[place] < 0 ? `image ${ids[place]}` : `${nameOf(labels[place])} ${ids[place]}`;
  const words = i === j
    ? say`${name(i)} and its own other view: cosine ${cosines[i * ids.length + j].toFixed(2)}`
    : say`${name(i)} and ${name(j)}: cosine ${cosines[i * ids.length + j].toFixed(2)}`;
  if (i !== j && labels[i] >= 0 && labels[i] === labels[j]) words.push(', one class');
  return [makeTile(batch, i, 0), makeTile(batch, j, 1), make('span', {}, ...words)];
}

function listCosines() {
  const { ids, cosines, order } = run.batch, n = ids.length;
  return [['image', ...order.map(j => ids[j])],
    ...order.map(i => [ids[i], ...order.map(j => cosines[i * n + j].toFixed(3))])];
}
