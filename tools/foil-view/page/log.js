/* The events of the run, and its options. */

import { find, formatWhole, make, makeTable } from './dom.js';
import { lastStop, onChange, run } from './model.js';

const MOST_LINES = 200, section = find('#log');

export function startLog() {
  onChange('log columns', drawLog);
  onChange('columns', drawOptions);
  drawLog();
  drawOptions();
}

/* The ends of epochs, from the metrics. */
function listEpochs() {
  const { epoch = [], time = [] } = run.all.metrics.columns;
  return epoch.flatMap((number, i) => i && number > epoch[i - 1] && time[i - 1]
    ? [{ time: time[i - 1], what: 'epoch', words: `${number} ${number === 1 ? 'epoch' : 'epochs'} done` }]
    : []);
}

/* Epochs, checkpoints and the end, newest first. */
function drawLog() {
  const stop = lastStop();
  const lines = [...listEpochs(), ...run.all.checkpoints.map(({ step, time }) =>
    ({ time, what: 'checkpoint', words: `at step ${formatWhole(step)}` }))]
    .sort((a, b) => a.time - b.time);
  if (stop?.time) lines.push({ time: stop.time, what: 'stop', words: stop.reason });
  const shown = lines.slice(-MOST_LINES).reverse().map(makeLine);
  find('ol', section).replaceChildren(
    ...shown.length ? shown : [make('li', {}, 'Epochs and checkpoints appear here.')]);
}

function makeLine({ time, what, words }) {
  const date = new Date(time * 1000);
  return make('li', { className: what },
    make('time', { dateTime: date.toISOString(), title: date.toLocaleString() },
      date.toTimeString().slice(0, 8)),
    make('b', {}, what), make('span', {}, words));
}

function drawOptions() {
  const options = Object.entries(run.all.options ?? {});
  find('details', section).hidden = !options.length;
  const rows = options.map(([name, value]) => [
    name,
    typeof value === 'object' ? JSON.stringify(value) : String(value),
  ]);
  find('.table', section).replaceChildren(makeTable('Options of foil train in the newest checkpoint', ['option', 'value'], rows));
}
