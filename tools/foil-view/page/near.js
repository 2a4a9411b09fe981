/* Some images, always the same, and those that the encoder finds most like each,
 * after the epoch that the map shows. */

import { pickImage } from './batch.js';
import { addDownloads } from './download.js';
import { find, make, say } from './dom.js';
import { delay, nameEpoch, nameOf, onChange, run } from './model.js';
import { makeImage } from './picture.js';

/* An image and its neighbours. */
const WIDTH = 9;

const section = find('#near');

export function startNear() {
  addDownloads(section, listNear);
  onChange('near', delay(150, drawNear));
}

const splitRows = images =>
  Array.from({ length: images.length / WIDTH }, (_, i) => [
    ...images.subarray(i * WIDTH, (i + 1) * WIDTH),
  ]);

const isAlike = (id, other) =>
  run.near.labelOf(id) >= 0 && run.near.labelOf(id) === run.near.labelOf(other);

const countAlike = images =>
  splitRows(images).reduce(
    (sum, [id, ...others]) => sum + others.filter(other => isAlike(id, other)).length,
    0,
  );

let shown = '';

function drawNear() {
  const { epoch, images } = run.near,
    rows = splitRows(images),
    key = `${nameEpoch(epoch)} ${images}`;
  section.hidden = false;
  if (key === shown) return;
  shown = key;
  find('small', section).textContent = `by the embeddings ${nameEpoch(epoch)}`;
  find('.say', section).replaceChildren(...describeNear(rows));
  find('.nearest', section).replaceChildren(...rows.map(drawRow));
}

function describeNear(rows) {
  const { epoch, from, images, before, labelOf } = run.near,
    all = images.length - rows.length;
  if (!rows.some(([id]) => labelOf(id) >= 0)) return ['Each image at the left with those that are nearest to it, the nearest first.'];
  return [
    ...say`${countAlike(images)} of ${all} are of the class of the image at the left, in a solid frame`,
    ...(epoch === from
      ? ['. ']
      : [`; ${nameEpoch(from)} it was `, ...say`${countAlike(before)}. `]),
    'Labels are for looking: training has none.',
  ];
}

const nameImage = id => `${nameOf(run.near.labelOf(id), id)}, image ${id}`;

function drawRow([id, ...others]) {
  const same = others.filter(other => isAlike(id, other)).length;
  const words = `${nameImage(id)}: nearest to it are ${others.map(nameImage).join('; ')}. ${same} of them are of its class.`;
  return make(
    'li',
    { ariaLabel: words },
    drawImage(id, 'own'),
    ...others.map(other =>
      drawImage(
        other,
        run.near.labelOf(id) < 0 ? '' : isAlike(id, other) ? 'alike' : 'other',
      ),
    ),
  );
}

const drawImage = (id, kind) =>
  make(
    'button',
    { className: kind, title: nameImage(id), tabIndex: -1, onclick: () => pickImage(id) },
    makeImage(id),
  );

function listNear() {
  const rows = run.near ? splitRows(run.near.images) : [];
  return [
    ['image', 'class', 'place', 'neighbour', 'class of it'],
    ...rows.flatMap(([id, ...others]) =>
      others.map((other, k) => [
        id,
        nameOf(run.near.labelOf(id), id),
        k + 1,
        other,
        nameOf(run.near.labelOf(other), other),
      ]),
    ),
  ];
}
