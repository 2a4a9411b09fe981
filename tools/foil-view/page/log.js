/* The events of the run, and its options. */

import { addDownloads } from './download.js';
import { find, make, makeTable } from './dom.js';
import { onChange, run } from './model.js';

const MOST_LINES = 200, section = find('#log');

export function startLog() {
  addDownloads(section, listEvents, () => run.all.log);
  onChange('log', drawLog);
  onChange('columns', drawOptions);
  drawLog();
  drawOptions();
}

/* All events but steps, which are too many. */
function drawLog() {
  const lines = run.all.log
    .filter(line => line.what !== 'step')
    .slice(-MOST_LINES)
    .reverse();
  find('ol', section).replaceChildren(...lines.length ? lines.map(makeLine) : [make('li', {}, 'No events yet.')]);
}

function makeLine(line) {
  const time = new Date(line.time * 1000);
  return make(
    'li',
    { className: line.what },
    make(
      'time',
      { dateTime: time.toISOString(), title: time.toLocaleString() },
      time.toTimeString().slice(0, 8),
    ),
    make('b', {}, line.what),
    make('span', {}, describeLine(line)),
  );
}

function describeLine({ what, epoch, step, path, reason }) {
  if (reason) return reason;
  if (what === 'checkpoint' && path) return path.split('/').pop();
  if (what === 'epoch') return `${epoch} ${epoch === 1 ? 'epoch' : 'epochs'} done`;
  return epoch == null ? '' : `epoch ${epoch + 1}, step ${(step ?? 0) + 1}`;
}

function listEvents() {
  return [
    ['time', 'what', 'text'],
    ...run.all.log.map(line => [
      new Date(line.time * 1000).toISOString(),
      line.what,
      describeLine(line),
    ]),
  ];
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
