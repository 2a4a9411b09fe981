/* The trail of an anchor's chain: the states that it recorded, visit by visit. */

import { formatCosine, formatNumber, formatShare, make, say } from './dom.js';
import { nameOf, run } from './model.js';
import { makeImage, makeViews } from './picture.js';

export function drawTrail(box, { trail = [], drawn }) {
  box.hidden = !trail.length;
  if (box.hidden) return;
  const chain = /^emc2/.test(drawn?.sampler ?? 'emc2');
  const picture = drawStates(trail.flatMap(visit => visit.states));
  box.replaceChildren(
    make('h3', {}, chain ? 'Where its chain has been' : 'What was drawn for it before'),
    make('p', { className: 'say' }, ...describeTrail(trail, chain)),
    make('ol', { tabindex: 0, ariaLabel: 'Visits, the oldest first' }, ...trail.map(visit => drawVisit(visit, picture))));
}

function describeTrail(trail, chain) {
  const accepted = run.all.metrics.columns.accepted?.findLast(value => value != null);
  const kept = trail.filter(
    (visit, i) =>
      i &&
      visit.states.some(state => trail[i - 1].states.some(({ id }) => id === state.id)),
  ).length;
  return [
    ...trail.length > 1 ? say`The ${trail.length} latest visits that were heard of, the newest on the right, each` : ['The one visit that was heard of so far,'],
    ' with the states that had the most weight, and the cosine of the first. ',
    ...trail.length > 1 ? say`In ${kept} of ${trail.length - 1} it came back to an image of the visit before. ` : [],
    ...chain && accepted != null ? say`Of the proposals to all chains, ${formatShare(accepted)} were accepted in the last step.` : [],
  ];
}

/* All pictures are one, asked for once; of a text, or of a view that is not
 * known, the image stands there. */
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
    { title: `as if over ${formatNumber(effective, 1)} states` },
    make('small', {}, `${epoch + 1}·${step + 1}`),
    ...(figures.length
      ? [...figures, drawCosine(states[0])]
      : [make('small', {}, 'none is known')]),
  );
}

/* The further to the right, the nearer to the anchor. */
const drawCosine = ({ cosine }) =>
  make(
    'small',
    { className: 'cosine', style: `--at: ${50 + 50 * cosine}%` },
    formatCosine(cosine),
  );

const nameState = ({ id, label, view, epoch, weight, same }) =>
  `${nameOf(label, id)}, image ${id}${view >= 0 ? `, view ${view + 1} of epoch ${epoch + 1}` : ''}: ${formatShare(weight)}${same ? ', own class' : ''}`;
