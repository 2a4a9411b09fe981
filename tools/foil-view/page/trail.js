/* The latest states of the anchor's chain, visit by visit. */

import { formatCosine, formatNumber, formatShare, make, phrase } from './dom.js';
import { nameOf, run } from './model.js';
import { makeImage, makeViews } from './picture.js';

export function drawTrail(box, { trail = [], drawn }) {
  box.hidden = !trail.length;
  if (box.hidden) return;
  const chain = /^emc2/.test(drawn?.sampler ?? 'emc2');
  const picture = drawStates(trail.flatMap(visit => visit.states));
  box.replaceChildren(
    make('h3', {}, chain ? 'Chain of the anchor' : 'Earlier draws for the anchor'),
    make('p', { className: 'text' }, ...describeTrail(trail, chain)),
    make('ol', { tabindex: 0, ariaLabel: 'Visits, oldest first' }, ...trail.map(visit => drawVisit(visit, picture))));
}

function describeTrail(trail, chain) {
  const accepted = run.all.metrics.columns.accepted?.findLast(value => value != null);
  const repeated = trail.filter(
    (visit, i) =>
      i &&
      visit.states.some(state => trail[i - 1].states.some(({ id }) => id === state.id)),
  ).length;
  return [
    ...trail.length > 1 ? phrase`The ${trail.length} latest visits received, newest on the right: ` : ['The first visit received: '],
    'the heaviest states, and the cosine of the first. ',
    ...trail.length > 1 ? phrase`${repeated} of ${trail.length - 1} visits share an image with the visit before. ` : [],
    ...chain && accepted != null ? phrase`Acceptance over all chains in the last step: ${formatShare(accepted)}.` : [],
  ];
}

/* Draws all views with one request. A text or an unknown view is drawn as its image. */
function drawStates(states) {
  const known = states.filter(({ view }) => view >= 0 && !run.batch.texts);
  const pictures = makeViews(known);
  return state =>
    known.includes(state) ? pictures[known.indexOf(state)] : makeImage(state.id);
}

function drawVisit({ epoch, step, states, effective }, picture) {
  const figures = states.map(state =>
    make(
      'figure',
      { className: state.same ? 'false' : '', title: nameState(state) },
      picture(state),
      make('figcaption', {}, formatShare(state.weight)),
    ),
  );
  return make(
    'li',
    { title: `effective number of states: ${formatNumber(effective, 1)}` },
    make('small', {}, `${epoch + 1}·${step + 1}`),
    ...(figures.length
      ? [...figures, drawCosine(states[0])]
      : [make('small', {}, 'no states')]),
  );
}

/* The bar is longer for a greater cosine. */
const drawCosine = ({ cosine }) =>
  make(
    'small',
    { className: 'cosine', style: `--at: ${50 + 50 * cosine}%` },
    formatCosine(cosine),
  );

const nameState = ({ id, label, view, epoch, weight, same }) =>
  `${nameOf(label, id)}, image ${id}${view >= 0 ? `, view ${view + 1} of epoch ${epoch + 1}` : ''}: ${formatShare(weight)}${same ? ', same class' : ''}`;
