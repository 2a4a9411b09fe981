/* The anchor: its views, its heaviest negatives, and a histogram of its cosines. */

import { pickAnchor, placeOf, viewOf } from './batch.js';
import { addDownloads } from './download.js';
import {
  find,
  formatCosine,
  formatNumber,
  formatShare,
  make,
  makeTable,
  phrase,
} from './dom.js';
import { nameOf, onChange, run } from './model.js';
import { isText, makeImage, makeName, makeText, makeTile, makeView } from './picture.js';
import { clearHistogram, drawHistogram } from './histogram.js';
import { drawTrail } from './trail.js';

const section = find('#anchor');
let shown = null;     // the anchor on the panel, until the next one is loaded

export function startAnchor() {
  addDownloads(section, listNegatives, () => shown);
  onChange('anchor', drawAnchor);
}

function drawAnchor() {
  const anchor = shown = run.anchor;
  section.hidden = false;
  find('.views', section).replaceChildren(...drawViews(anchor), drawName(anchor));
  find('.downloads', section).hidden = !anchor.negatives;
  find('.text', section).ariaLive = run.held ? 'polite' : 'off';    // not once a second
  find('.text', section).replaceChildren(...describeWeights(anchor));
  find('.table', section).replaceChildren();
  clearHistogram(section);
  drawTrail(find('.trail', section), anchor);
  if (!anchor.negatives) return;
  if (anchor.drawn?.negatives.length) drawDrawn(anchor);
  else drawNegatives(anchor);
  drawCosines(anchor);
}

function drawViews(anchor) {
  const figure = (picture, words) =>
    make('figure', {}, picture, make('figcaption', {}, words));
  const { batch } = run,
    nameView = view => (batch.texts ? ['image', 'text'][view] : `view ${view + 1}`);
  const views = Array.from({ length: batch.texts ? 2 : batch.views }, (_, view) =>
    make(
      'button',
      {
        ariaPressed: view === anchor.view,
        onclick: () => setView(view),
        title: 'Make this view the anchor',
      },
      figure(makeTile(batch, placeOf(anchor.row), view), nameView(view)),
    ),
  );
  return [figure(makeImage(anchor.id), 'original'), ...views];
}

function drawName(anchor) {
  const name = make(
    'p',
    { className: 'own' },
    make('strong', {}, makeName(anchor.label, anchor.id)),
  );
  if (anchor.label >= 0) name.append(`image ${anchor.id}`);
  if (anchor.own != null)
    name.append(
      make('br'),
      run.batch.texts ? 'cosine of image and text: ' : 'cosine of its two views: ',
      ...phrase`${formatCosine(anchor.own)}`,
    );
  return name;
}

function describeWeights({ mass, beta, reason, drawn }) {
  if (!mass) return [reason];
  if (drawn) return describeDrawn(drawn, mass, beta);
  return [
    run.all.living || !run.all.status['negatives 1'] ? '' : 'The draws of foil-negatives were not saved. ',
    ...phrase`Weight: softmax of cosine / ${formatNumber(1 / beta)} (temperature). `,
    ...phrase`Effective number of negatives: ${formatNumber(mass.effective, 1)}. `,
    ...mass.same == null ? [] : phrase`${formatShare(mass.same)} of the weight is on the anchor’s class: false negatives.`,
  ];
}

/* The sampler's weights, compared with the softmax over the batch. */
function describeDrawn({ sampler, columns, outside, effective, negatives }, mass, beta) {
  const same = negatives
    .filter(negative => negative.same)
    .reduce((sum, { weight }) => sum + weight, 0);
  return [
    ...phrase`Weight by the sampler${sampler ? ` ${sampler}` : ''}, over ${columns} rows. Effective number: ${formatNumber(effective, 1)}. `,
    ...phrase`${formatShare(outside)} of the weight is outside the batch`,
    ...mass.same == null ? ['. '] : phrase`, ${formatShare(same)} on the anchor’s class (false negatives). `,
    ...phrase`Line in a bar: softmax of cosine / ${formatNumber(1 / beta)} (temperature) over the batch, effective number ${formatNumber(mass.effective, 1)}`,
    ...mass.same == null ? ['.'] : phrase`, ${formatShare(mass.same)} on the anchor’s class.`,
  ];
}

function drawDrawn({ drawn: { negatives } }) {
  const most = Math.max(
    ...negatives.map(({ weight, softmax }) => Math.max(weight, softmax ?? 0)),
    1e-9,
  );
  const rows = negatives.map(negative => [
    drawDrawnView(negative),
    nameDrawn(negative),
    makeBar(
      negative.weight / most,
      negative.same,
      negative.softmax == null ? null : negative.softmax / most,
    ),
    make('span', { className: 'number' }, formatShare(negative.weight)),
    make('span', { className: 'number' }, formatShare(negative.softmax)),
    make('span', { className: 'number' }, formatCosine(negative.cosine)),
  ]);
  find('.table', section).replaceChildren(
    makeTable(
      `The sampler’s ${negatives.length} heaviest negatives`,
      [
        makeHidden('view'),
        'negative',
        makeHidden('weight as a bar'),
        'weight',
        'softmax',
        'cosine',
      ],
      rows,
    ),
  );
}

function drawDrawnView({ id, row, view, epoch }) {
  if (row != null)
    return makeTile(run.batch, placeOf(row), run.batch.texts ? 0 : viewOf(row));
  if (run.batch.texts && id >= 0) return makeImage(id);
  if (id < 0) return make('i', { className: 'picture' });
  return view < 0 ? makeImage(id) : makeView(id, epoch, view);
}

function nameDrawn(negative) {
  const { id, row } = negative;
  if (id < 0) return 'feature of the bank';
  return row != null && isText(run.batch, viewOf(row))
    ? drawNegativeText({ ...negative, column: placeOf(row) })
    : drawNegativeName(negative);
}

const makeHidden = words => make('span', { className: 'visually-hidden' }, words);

function drawNegatives({ negatives, mass, epoch }) {
  const most = negatives[0]?.weight || 1;
  const rows = negatives.map(negative => [
    isText(run.batch, negative.view)
      ? makeTile(run.batch, negative.column, 0)
      : makeView(negative.id, epoch, negative.view),
    isText(run.batch, negative.view)
      ? drawNegativeText(negative)
      : drawNegativeName(negative),
    makeBar(negative.weight / most, negative.same),
    make('span', { className: 'number' }, formatShare(negative.weight)),
    make('span', { className: 'number' }, formatCosine(negative.cosine)),
  ]);
  find('.table', section).replaceChildren(
    makeTable(
      `The ${negatives.length} heaviest negatives have ${formatShare(mass.shown)} of the weight`,
      [makeHidden('view'), 'negative', makeHidden('weight as a bar'), 'weight', 'cosine'],
      rows,
    ),
  );
}

/* A share as a bar; mark is another share, drawn as a line, or null. */
function makeBar(share, same, mark = null) {
  const bar = make(
    'span',
    { className: same ? 'bar false' : 'bar' },
    make('i', { style: `width: ${100 * share}%` }),
  );
  if (mark != null) bar.append(make('s', { style: `left: ${100 * mark}%` }));
  return bar;
}

function drawNegativeName({ label, id, same, view }) {
  const name = make(
    'span',
    { title: view < 0 ? `image ${id}` : `image ${id}, view ${view + 1}` },
    makeName(label, id),
  );
  if (same) name.append(' ', make('span', { className: 'tag' }, 'same class'));
  return name;
}

/* A text, next to the picture of its image. */
function drawNegativeText({ column, same }) {
  const name = make('span', {}, makeText(run.batch, column));
  if (same) name.append(' ', make('span', { className: 'tag' }, 'same class'));
  return name;
}

function drawCosines({ histogram, own, view }) {
  if (!histogram) return;
  const others = run.batch.texts ? ['texts', 'images'][view] : 'images';
  drawHistogram(find('.histogram', section),
    `Cosines of the anchor with other ${others}; with its own: ${formatCosine(own)}`,
    [{ name: `other ${others}`, counts: histogram, colour: 'var(--soft)' }],
    { name: run.batch.texts ? 'own' : 'other view', cosine: own });
}

function listNegatives() {
  const { negatives = [], drawn } = shown;
  if (drawn)
    return [
      ['image', 'class', 'view', 'weight', 'softmax', 'cosine', 'same class'],
      ...drawn.negatives.map(n => [
        n.id,
        nameOf(n.label, n.id),
        n.view + 1,
        n.weight,
        n.softmax,
        n.cosine,
        n.same ? 'yes' : 'no',
      ]),
    ];
  return [
    ['image', 'class', 'view', 'weight', 'cosine', 'same class'],
    ...negatives.map(n => [
      n.id,
      nameOf(n.label, n.id),
      n.view + 1,
      n.weight,
      n.cosine,
      n.same ? 'yes' : 'no',
    ]),
  ];
}

function setView(view) {
  if (run.anchor) pickAnchor(view * run.batch.ids.length + placeOf(run.anchor.row));
}

export const nextView = () =>
  run.anchor && setView((viewOf(run.anchor.row) + 1) % run.batch.views);
