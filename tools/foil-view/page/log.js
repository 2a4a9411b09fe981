/* What happened in the run, and what evaluations of its checkpoints found. */

import { addDownloads } from './download.js';
import { find, formatNumber, make, makeTable } from './dom.js';
import { onChange, run } from './model.js';

const MOST_LINES = 200, log = find('#log'), results = find('#results');

export function startLog() {
  addDownloads(log, () => [['time', 'what', 'text'], ...run.all.log.map(line => [new Date(line.time * 1000).toISOString(), line.what, describeLine(line)])], () => run.all.log);
  addDownloads(results, listResults, () => run.all.results);
  onChange('log', drawLog);
  onChange('columns', drawResults);
  drawLog();
  drawResults();
}

/* Steps are too many to tell one by one. */
function drawLog() {
  const lines = run.all.log.filter(line => line.what !== 'step').slice(-MOST_LINES).reverse();
  find('ol', log).replaceChildren(...lines.length ? lines.map(makeLine) : [make('li', {}, 'Nothing has happened yet.')]);
}

function makeLine(line) {
  const time = new Date(line.time * 1000);
  return make('li', { className: line.what },
    make('time', { dateTime: time.toISOString(), title: time.toLocaleString() }, time.toTimeString().slice(0, 8)),
    make('b', {}, line.what), make('span', {}, describeLine(line)));
}

function describeLine({ what, epoch, step, path, reason }) {
  if (reason) return reason;
  if (what === 'checkpoint' && path) return path.split('/').pop();
  if (what === 'epoch') return `epoch ${epoch + 1} is over`;
  return epoch == null ? '' : `epoch ${epoch + 1}, step ${(step ?? 0) + 1}`;
}

/* ---- evaluations ---- */

/* Figures of a line of results.jsonl; its other keys are the protocol. */
const FIGURES = ['accuracy', 'weighted', 'top1', 'top3', 'top5', 'map', 'recall', 'loss'];

const figuresOf = result => FIGURES.filter(key => typeof result[key] === 'number').map(key => [key, result[key]]);

function listResults() {
  const rows = run.all.results.flatMap(result => figuresOf(result).map(([key, value]) =>
    [result.step ?? '', result.measure ?? result.protocol ?? '', key, value]));
  return [['step', 'measure', 'figure', 'value'], ...rows];
}

function drawResults() {
  const [head, ...rows] = listResults();
  const words = rows.reverse().slice(0, 30).map(([step, measure, key, value]) => [formatNumber(step), measure, key, formatNumber(value)]);
  find('.table', results).replaceChildren(words.length
    ? makeTable('What foil eval found in the checkpoints, the newest first', head, words)
    : make('p', { className: 'say' }, 'No checkpoint has been evaluated yet: foil eval adds its results here.'));
}
