/* Some fixed images, each with its nearest neighbours in the frame that the map shows. */

import { pickImage } from './batch.js';
import { find, make, phrase } from './dom.js';
import { delay, nameEpoch, nameOf, onChange, run } from './model.js';
import { makeImage } from './picture.js';

/* An image and its neighbours. */
const WIDTH = 9;

const section = find('#near');

export function startNear() {
  onChange('near', delay(150, drawNear));
}

const splitRows = images =>
  Array.from({ length: images.length / WIDTH }, (_, i) => [
    ...images.subarray(i * WIDTH, (i + 1) * WIDTH),
  ]);

const isSameClass = (id, other) =>
  run.near.labelOf(id) >= 0 && run.near.labelOf(id) === run.near.labelOf(other);

const countSameClass = images =>
  splitRows(images).reduce(
    (sum, [id, ...others]) => sum + others.filter(other => isSameClass(id, other)).length,
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
  find('small', section).textContent = `of ${rows.length} images, ${nameEpoch(epoch)}`;
  find('.text', section).replaceChildren(...describeNear(rows));
  find('.nearest', section).replaceChildren(...rows.map(drawRow));
}

function describeNear(rows) {
  const { epoch, from, images, before, labelOf } = run.near,
    all = images.length - rows.length;
  if (!rows.some(([id]) => labelOf(id) >= 0)) return ['First in each row is the image, then its neighbours, nearest first.'];
  return [
    ...phrase`${countSameClass(images)} of ${all} neighbours have the class of their image (solid frame)`,
    ...(epoch === from
      ? ['. ']
      : [`; ${nameEpoch(from)}: `, ...phrase`${countSameClass(before)}. `]),
    'Training never sees labels.',
  ];
}

const nameImage = id => `${nameOf(run.near.labelOf(id), id)}, image ${id}`;

function drawRow([id, ...others]) {
  const same = others.filter(other => isSameClass(id, other)).length;
  const words = `${nameImage(id)}: neighbours ${others.map(nameImage).join('; ')}. ${same} have its class.`;
  return make(
    'li',
    { ariaLabel: words },
    drawImage(id, 'own'),
    ...others.map(other =>
      drawImage(
        other,
        run.near.labelOf(id) < 0 ? '' : isSameClass(id, other) ? 'alike' : 'other',
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
