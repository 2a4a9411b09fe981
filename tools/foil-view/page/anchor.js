/* One anchor: its views, its heaviest negatives, and how its weight is spread. */

import { pickAnchor, placeOf, viewOf } from './batch.js';
import { addDownloads } from './download.js';
import { find, formatCosine, formatNumber, formatShare, make, makeTable, say } from './dom.js';
import { nameOf, onChange, run } from './model.js';
import { makeImage, makeName, makeView } from './picture.js';
import { clearSpread, drawSpread } from './spread.js';

const section = find('#anchor');

export function startAnchor() {
  addDownloads(section, listNegatives, () => run.anchor);
  onChange('anchor', drawAnchor);
}

function drawAnchor() {
  const { anchor } = run;
  section.hidden = false;
  find('.who', section).replaceChildren(...drawViews(anchor), drawName(anchor));
  find('.downloads', section).hidden = !anchor.negatives;
  find('.say', section).ariaLive = run.held ? 'polite' : 'off';    // not each second
  find('.say', section).replaceChildren(...describeWeights(anchor));
  find('.table', section).replaceChildren();
  clearSpread(section);
  if (!anchor.negatives) return;
  drawNegatives(anchor);
  drawCosines(anchor);
}

function drawViews(anchor) {
  const figure = (picture, words) => make('figure', {}, picture, make('figcaption', {}, words));
  const views = Array.from({ length: run.batch.views }, (_, view) => make('button',
    { ariaPressed: view === anchor.view, onclick: () => setView(view), title: 'Take this view as the anchor' },
    figure(makeView(anchor.id, anchor.epoch, view), `view ${view + 1}`)));
  return [figure(makeImage(anchor.id), 'as stored'), ...views];
}

function drawName(anchor) {
  const name = make('p', { className: 'own' }, make('strong', {}, makeName(anchor.label, anchor.id)), `image ${anchor.id}`);
  if (anchor.own != null) name.append(make('br'), ...say`its two views: cosine ${formatCosine(anchor.own)}`);
  return name;
}

function describeWeights({ mass, beta, reason }) {
  if (!mass) return [reason];
  return [
    ...say`A negative weighs as in the softmax of cosine / ${formatNumber(1 / beta)} (the temperature). `,
    ...say`The weight is spread as if over ${formatNumber(mass.effective, 1)} negatives`,
    ...mass.same == null ? ['.'] : say`; ${formatShare(mass.same)} of it is on the anchor’s own class: false negatives.`,
  ];
}

function drawNegatives({ negatives, mass, epoch }) {
  const most = negatives[0]?.weight || 1;
  const rows = negatives.map(negative => [
    makeView(negative.id, epoch, negative.view),
    drawNegativeName(negative),
    makeBar(negative.weight / most, negative.same),
    make('span', { className: 'number' }, formatShare(negative.weight)),
    make('span', { className: 'number' }, formatCosine(negative.cosine)),
  ]);
  const unseen = words => make('span', { className: 'unseen' }, words);
  find('.table', section).replaceChildren(makeTable(
    `The ${negatives.length} heaviest negatives have ${formatShare(mass.shown)} of the weight`,
    [unseen('view'), 'negative', unseen('weight as a bar'), 'weight', 'cosine'], rows));
}

const makeBar = (share, same) => make('span', { className: same ? 'bar false' : 'bar' },
  make('i', { style: `width: ${100 * share}%` }));

function drawNegativeName({ label, id, same, view }) {
  const name = make('span', { title: `image ${id}, view ${view + 1}` }, makeName(label, id));
  if (same) name.append(' ', make('span', { className: 'tag' }, 'own class'));
  return name;
}

function drawCosines({ histogram, own }) {
  if (!histogram) return;
  drawSpread(find('.spread', section),
    `Cosines of the anchor to all other images; its own other view has ${formatCosine(own)}`,
    [{ name: 'all other images', counts: histogram, colour: 'var(--soft)' }],
    { name: 'own other view', cosine: own });
}

function listNegatives() {
  const { negatives = [] } = run.anchor;
  return [['image', 'class', 'view', 'weight', 'cosine', 'own class'],
    ...negatives.map(n => [n.id, nameOf(n.label, n.id), n.view + 1, n.weight, n.cosine, n.same ? 'yes' : 'no'])];
}

export function setView(view) {
  pickAnchor(view * run.batch.ids.length + placeOf(run.anchor.row));
}

export const nextView = () => run.anchor && setView((viewOf(run.anchor.row) + 1) % run.batch.views);
