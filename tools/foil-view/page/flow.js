/* The dataflow: a box for each stage of `status`, and lines on which batches move. */

import { find, formatNumber, formatWhole, make, prefersStillness } from './dom.js';
import { delay, lastStop, onChange, run, stepRate } from './model.js';
import { drawEdges, sendDots } from './edges.js';
import { nameMeasure } from './good.js';
import { isFile } from './source.js';

/* Further augmenters are counted in the box of the last. */
const MOST_AUGMENTERS = 4;

const box = find('#flow .stages'), boxes = {};
const made = {};

export function startFlow() {
  onChange('status log results state', delay(200, drawFlow));
  onChange('metrics', () => { if (run.all.living && !prefersStillness()) sendDots(); });
  new ResizeObserver(() => drawEdges(box, boxes)).observe(box);
  setInterval(drawFlow, 1000);
  drawFlow();
}

function drawFlow() {
  find('#flow small').hidden = isOver();
  placeStages(listColumns());
  drawTrain();
  drawSelect();
  drawNegatives();
  drawAugmenters();
  drawSaved();
}

const numberOf = stage => Number(stage.split(' ')[1]);
const stagesNamed = name =>
  Object.keys(run.all.status)
    .filter(stage => stage.startsWith(`${name} `))
    .sort((a, b) => numberOf(a) - numberOf(b));

/* The columns of boxes. Without any status these are the stages of every run. */
function listColumns() {
  const augmenters = stagesNamed('augment').slice(0, MOST_AUGMENTERS);
  const negatives = stagesNamed('negatives').slice(0, 1);
  return [['select'], negatives, augmenters.length ? augmenters : ['augment'], ['train'], ['saved']]
    .filter(column => column.length);
}

function placeStages(columns) {
  const key = JSON.stringify(columns);
  if (box.dataset.columns === key) return;
  box.dataset.columns = key;
  for (const stage of Object.keys(boxes)) delete boxes[stage];
  for (const stage of columns.flat()) boxes[stage] = make('div', { className: 'stage' });
  box.replaceChildren(find('.edges', box), ...columns.map(column =>
    make('div', { className: 'column' }, ...column.map(stage => boxes[stage]))));
  drawEdges(box, boxes);
}

/* Fills a box.  kind: on, wait or gone; of `slots` batches some are full or ready. */
function fillStage(
  stage,
  { name, kind, right = '', words, slots = 0, full = 0, ready = 0 },
) {
  const element = boxes[stage];
  if (!element) return;
  element.className = `stage ${kind}`;
  element.replaceChildren(
    make('b', {}, name, make('span', {}, right)),
    make('em', {}, words),
  );
  if (slots > 0) element.append(makeSlots(Math.min(slots, 32), full, ready));
}

function makeSlots(slots, full, ready) {
  const form = i => i < full ? 'full' : i < full + ready ? 'ready' : '';
  return make('div', { className: 'slots', role: 'img', ariaLabel: `${full + ready} of ${slots} slots taken` },
    ...Array.from({ length: slots }, (_, i) => make('i', { className: form(i) })));
}

const isOver = () => !run.all.living || Boolean(lastStop());
const isSilent = stage => !isFile && Date.now() / 1000 - (run.lastSeen[stage] ?? 0) > 10;
const valuesOf = stage => run.all.status[stage]?.values ?? {};
const formatCount = (n, one, more = `${one}s`) => `${formatNumber(n)} ${n === 1 ? one : more}`;
const formatRate = rate => rate && !isOver() ? `${formatNumber(rate, 1)}/s` : '';

function drawTrain() {
  const { window: slots, held = 0, waits = 0 } = valuesOf('train 1');
  const stop = lastStop();
  const words = isOver()
    ? (stop?.reason ?? 'not running')
    : isSilent('train 1')
      ? 'no status: a long step, or stopped'
      : waits > 0.5
        ? `waiting for a batch, ${formatNumber(waits, 1)} s`
        : slots
          ? `${held} of ${slots} batches ready`
          : 'training';
  const kind = isOver() ? 'gone' : waits > .5 || isSilent('train 1') ? 'wait' : 'on';
  fillStage('train', {
    name: 'train',
    kind,
    right: formatRate(stepRate()),
    words,
    slots: isOver() ? 0 : slots,
    full: held,
  });
}

function drawSelect() {
  const there = stagesNamed('select').length || stagesNamed('augment').length;
  const { augmenters = 0 } = { ...valuesOf('negatives 1'), ...valuesOf('select 1') };
  const words = isOver() ? augmenters ? `made batches for ${formatCount(augmenters, 'augmenter')}` : 'not running'
    : there ? 'making batches' : 'no status yet';
  fillStage('select', { name: 'select', kind: isOver() || !there ? 'gone' : 'on', right: formatRate(stepRate()), words });
}

function drawNegatives() {
  const stage = stagesNamed('negatives')[0];
  if (!stage) return;
  const joined = valuesOf(stage).joined !== 0;
  const words = isOver()
    ? joined
      ? 'weighed negatives'
      : 'did not join the run'
    : joined
      ? 'weighing negatives'
      : 'not in the run yet';
  fillStage(stage, {
    name: 'negatives',
    kind: isOver() ? 'gone' : joined ? 'on' : 'wait',
    words,
  });
}

function drawAugmenters() {
  const all = stagesNamed('augment');
  if (!all.length)
    fillStage('augment', {
      name: 'augment',
      kind: 'gone',
      words: isOver() ? 'not running' : 'none connected yet',
    });
  for (const stage of all.slice(0, MOST_AUGMENTERS)) drawAugmenter(stage);
  const more = all.length - MOST_AUGMENTERS;
  if (more > 0)
    boxes[all[MOST_AUGMENTERS - 1]].append(make('em', {}, `and ${more} more`));
}

function drawAugmenter(stage) {
  const { room, items = 0, ready = 0, made = 0, source } = valuesOf(stage);
  const words = isOver()
    ? made
      ? `made ${formatCount(made, 'batch', 'batches')}`
      : 'not running'
    : isSilent(stage)
      ? 'no status for 10 s'
      : source === 0
        ? 'waiting for a selector'
        : ready
          ? 'waiting for the trainer'
          : items
            ? 'making views'
            : 'waiting for images';
  const kind = isOver() ? 'gone' : source === 0 || isSilent(stage) ? 'wait' : 'on';
  fillStage(stage, {
    name: stage,
    kind,
    right: formatRate(rateOf(stage)),
    words,
    slots: isOver() ? 0 : room,
    full: items,
    ready,
  });
}

/* An augmenter's batches per second, over its latest six reports. */
function rateOf(stage) {
  const count = valuesOf(stage).made,
    now = run.lastSeen[stage],
    reports = (made[stage] ||= []);
  if (count != null && reports.at(-1)?.now !== now) reports.push({ now, count });
  while (reports.length > 6) reports.shift();
  const first = reports[0], last = reports.at(-1);
  return reports.length > 1 ? (last.count - first.count) / (last.now - first.now) : 0;
}

function drawSaved() {
  const step = run.all.checkpoints.at(-1)?.step;
  const result = run.all.results.findLast(line => line.accuracy != null);
  // options are read from a checkpoint
  const any = step || Object.keys(run.all.options).length;
  const words = step
    ? `checkpoint at step ${formatWhole(step)}`
    : any
      ? 'a checkpoint'
      : 'no checkpoint yet';
  fillStage('saved', { name: 'saved', kind: any ? 'on' : 'gone', words });
  if (result)
    boxes.saved.append(
      make(
        'em',
        {},
        `${nameMeasure(result) || 'accuracy'} ${result.accuracy.toFixed(3)}`,
      ),
    );
}
