/* The board: all images of the batch with their views, and the most similar pairs of
 * different images. */

import { addDownloads } from './download.js';
import {
  find,
  findAll,
  formatCosine,
  formatNumber,
  formatShare,
  formOf,
  hueOf,
  make,
  makeSvg,
  makeTable,
  phrase,
} from './dom.js';
import { describeLack, pickAnchor, placeOf, viewOf } from './batch.js';
import { nameOf, onChange, run } from './model.js';
import { orderBatch } from './order.js';
import { cutTile, makeName, makeText } from './picture.js';

/* More tiles would not fit on a screen. */
const MOST_TILES = 512;

const section = find('#board'),
  box = find('.tiles', section),
  arcs = find('.arcs', section);
let by = 'similarity', tiles = [];

export function startBoard() {
  for (const button of findAll('[data-order]', section))
    button.onclick = () => setOrder(button.dataset.order);
  addDownloads(section, listPairs, () => ({
    ...run.batch,
    cosines: undefined,
    z: undefined,
    order: undefined,
    sprite: undefined,
  }));
  onChange('batch', drawBoard);
  onChange('anchor', markAnchor);
  new ResizeObserver(drawArcs).observe(box);
  find('.text', section).textContent = describeNothing();
}

function describeNothing() {
  if (run.all.batch) return 'Loading the batch.';
  return run.all.living ? 'The images of a batch appear here with the first step.'
    : 'The images of the last batch, once the run has a step; rows of numbers have none. If its data set has moved, start foil view with --data DATA.';
}

function setOrder(order) {
  by = order;
  drawBoard();
}

/* Ordering by similarity needs embeddings, by class labels. */
function markOrder(order, { known, labels }) {
  for (const button of findAll('[data-order]', section))
    button.ariaPressed = button.dataset.order === order;
  find('[data-order=similarity]', section).hidden = !known;
  find('[data-order=class]', section).hidden = labels.every(label => label < 0);
}

function drawBoard() {
  const { batch } = run;
  const order = by === 'similarity' && !batch.known ? 'plan' : by;
  section.classList.remove('empty');
  batch.order = orderBatch(batch, order);
  markOrder(order, batch);
  describeBatch(batch);
  const shown = batch.order.slice(0, MOST_TILES);
  makeTiles(batch);
  box.style.setProperty('--views', batch.pictures);
  box.classList.toggle('with-texts', Boolean(batch.texts));
  box.style.setProperty(
    '--side',
    shown.length > 256 ? '20px' : shown.length > 160 ? '26px' : '',
  );
  box.replaceChildren(arcs, ...shown.map(place => tiles[place]));
  shown.forEach(place => fillTile(tiles[place], batch, place));
  find('.key', section).hidden = find('details', section).hidden = !batch.known;
  find('.labelled', section).hidden = batch.same == null;
  drawArcs();
  drawPairs(batch);
  drawClasses(batch);
  markAnchor();
}

function describeBatch(batch) {
  const { epoch, step, ids, views, known, texts } = batch;
  find('.which', section).textContent =
    `epoch ${epoch + 1}, step ${step + 1}: ${ids.length} images, ${texts ? 'with a text each' : `${views} views each`}` +
    (ids.length > MOST_TILES ? `; ${MOST_TILES} shown` : '');
  find('.text', section).replaceChildren(...known ? describePairs(batch) : [
    describeLack(batch)]);
}

function describePairs({ pairs, same, texts, cosines }) {
  const words = texts
    ? ['Training pulls an image and its text together and pushes other images and texts away. ',
      ...phrase`${formatShare(countFirst(cosines))} of the images are nearest to their own text. `]
    : ['Training pulls the two views of an image together and pushes other images away. '];
  if (same != null)
    words.push(...phrase`${pairs.filter(pair => pair[3]).length} of the ${pairs.length} hardest pairs and `,
      ...phrase`${formatShare(same)} of all pairs are of the same class: false negatives. Training never sees labels. `);
  return [...words, ...describePlan(),
    run.batch.made ? 'The cosines are by the newest checkpoint. ' : '', 'Click an image to make it the anchor.'];
}

/* The mean loss of this epoch's batches, if the selector planned them from embeddings. */
function describePlan() {
  const { columns } = run.all.metrics, planned = columns['plan.mean'] ?? [];
  const i = planned.findLastIndex(
    (loss, i) => loss != null && columns.epoch[i] === run.batch.epoch,
  );
  if (i < 0) return [];
  return phrase`Mean batch loss by the embeddings after epoch ${columns['plan.from'][i] + 1}: ${formatNumber(
    planned[i],
    2,
  )} as planned, ${formatNumber(columns['plan.random_mean'][i], 2)} shuffled. `;
}

/* The share of images that are nearest to their own text. */
function countFirst(cosines) {
  const n = Math.sqrt(cosines.length);
  let first = 0;
  for (let i = 0; i < n; i++)
    first += cosines
      .subarray(i * n, (i + 1) * n)
      .every(cosine => cosine <= cosines[i * n + i]);
  return first / n;
}

function makeTiles(batch) {
  if (tiles.length !== batch.ids.length)
    tiles = batch.ids.map((_, place) => make('button',
      { className: 'tile', tabIndex: -1, onclick: () => pickAnchor(place) }));
  tiles.forEach((tile, place) => {
    if (tile.children.length !== batch.pictures || batch.texts)
      tile.replaceChildren(
        ...Array.from({ length: batch.pictures }, () =>
          make('i', { className: 'picture' }),
        ),
        ...(batch.texts ? [makeText(batch, place)] : []),
      );
  });
}

function fillTile(tile, batch, place) {
  const id = batch.ids[place], label = batch.labels[place], name = nameOf(label, id);
  tile.className = `tile ${formOf(label)}`;
  tile.style.setProperty('--hue', hueOf(label));
  tile.title = `${name} · image ${id}` + (batch.known ? ` · cosine of ${batch.texts ? 'image and text' : 'its two views'}: ${formatCosine(batch.own[place])}` : '');
  tile.ariaLabel = tile.title;
  findAll('.picture', tile).forEach((picture, view) =>
    cutTile(picture, batch, place, view),
  );
}

/* ---- arcs ---- */

function drawArcs() {
  const pairs = run.batch?.pairs ?? [];
  const most = box.clientWidth < 500 ? 5 : 10,
    isShown = place => tiles[place]?.isConnected;
  const shown = pairs.slice(0, most).filter(([i, j]) => isShown(i) && isShown(j));
  const drawn = shown.map(makeArc);
  arcs.replaceChildren(
    ...drawn.flatMap(arc => arc.lines),
    ...drawn.filter(isFree).map(arc => arc.text),
  );
}

/* Whether a number does not cover that of a more similar pair. */
const isFree = ({ at: [x, y] }, i, all) =>
  all.slice(0, i).every(({ at }) => Math.abs(at[0] - x) > 24 || Math.abs(at[1] - y) > 11);

/* Where an arc ends; with texts in the middle of the picture, so that it crosses no text. */
const middleOf = tile => [
  tile.offsetLeft + (run.batch.texts ? tile.offsetHeight : tile.offsetWidth) / 2,
  tile.offsetTop + tile.offsetHeight / 2,
];

/* A curve between two tiles, with a halo to be visible on any picture. Its number is in
 * its middle, or with texts on its first picture. */
function makeArc([i, j, cosine, same]) {
  const [x0, y0] = middleOf(tiles[i]), [x1, y1] = middleOf(tiles[j]);
  const length = Math.hypot(x1 - x0, y1 - y0) || 1,
    bend = Math.min(46, 16 + length * 0.12) * (x1 >= x0 ? 1 : -1);
  const x = (x0 + x1) / 2 + (bend * (y1 - y0)) / length,
    y = (y0 + y1) / 2 - (bend * (x1 - x0)) / length;
  const d = `M${x0} ${y0}Q${x} ${y} ${x1} ${y1}`;
  const at = run.batch.texts ? [x0, y0 + tiles[i].offsetHeight / 2 - 4]
    : [(x0 + x1) / 4 + x / 2, Math.max(9, (y0 + y1) / 4 + y / 2 - 3)];
  return {
    at,
    lines: [
      makeSvg('path', { d, class: 'halo' }),
      makeSvg('path', { d, class: same ? 'false' : 'hard' }),
    ],
    text: makeSvg('text', { x: at[0], y: at[1] }, formatCosine(cosine)),
  };
}

/* ---- pairs as a table ---- */

function listPairs() {
  const { ids, labels, pairs = [] } = run.batch;
  return [
    ['image', 'class', 'other image', 'other class', 'cosine', 'same class'],
    ...pairs.map(([i, j, cosine, same]) => [
      ids[i],
      nameOf(labels[i], ids[i]),
      ids[j],
      nameOf(labels[j], ids[j]),
      cosine,
      same ? 'yes' : 'no',
    ]),
  ];
}

function drawPairs(batch) {
  if (!batch.known) return;
  const [head, ...rows] = listPairs();
  find('.table', section).replaceChildren(makeTable('Hardest pairs of different images, most similar first', head, rows));
}

/* The legend of the colours under the tiles. Beyond ten classes colours repeat, and
 * there is none. */
function drawClasses({ labels }) {
  const classes = [...new Set(labels)].filter(label => label >= 0).sort((a, b) => a - b);
  find('.classes', section).replaceChildren(
    ...(Math.max(...labels) < 10 ? classes.map(label => makeName(label)) : []),
  );
}

/* ---- anchor ---- */

function markAnchor() {
  const { anchor, batch } = run;
  const place = anchor ? placeOf(anchor.row) : -1;
  const tabbed = anchor ? place : batch.order[0];
  const heaviest = anchor?.negatives?.slice(0, 6) ?? [];
  const near = new Map(heaviest.map(({ id, same }) => [batch.ids.indexOf(id), same]));
  tiles.forEach((tile, i) => {
    tile.classList.toggle('chosen', i === place);
    tile.classList.toggle('near', near.has(i));
    tile.classList.toggle('false', Boolean(near.get(i)));
    tile.ariaCurrent = i === place;
    tile.tabIndex = i === tabbed ? 0 : -1;    // arrow keys reach the others
  });
}

/* Moves the anchor by a number of places in the order on the board. */
export function moveAnchor(by) {
  const { anchor, batch } = run;
  if (!anchor) return;
  const n = Math.min(batch.order.length, MOST_TILES),
    at = batch.order.indexOf(placeOf(anchor.row));
  const place = batch.order[(((at + by) % n) + n) % n],
    focused = tiles.includes(document.activeElement);
  pickAnchor(viewOf(anchor.row) * batch.ids.length + place);
  if (focused) tiles[place].focus();
}

/* The number of tiles in a row. */
export function countAcross() {
  const shown = findAll('.tile', box), top = shown[0]?.offsetTop;
  return shown.filter(tile => tile.offsetTop === top).length || 1;
}
