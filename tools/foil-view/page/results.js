/* Evaluations of checkpoints: foil eval adds lines to RUN/results.jsonl. */

import { addDownloads } from './download.js';
import { find, formatNumber, make, makeTable } from './dom.js';
import { onChange, run } from './model.js';
import { makeGraph, makeKey, styleOf } from './plot.js';

/* The figures of a line; its other keys describe the protocol. */
const FIGURES = ['accuracy', 'weighted', 'top1', 'top3', 'top5', 'map', 'recall', 'loss'];

/* The downloads have all rows. */
const MOST_ROWS = 30;

const section = find('#results');
let graph = null;

export function startResults() {
  addDownloads(
    section,
    () => [['step', 'measure', 'figure', 'value'], ...listFigures()],
    () => run.all.results,
  );
  onChange('results theme', drawResults);
  drawResults();
}

/* The name of the measure of a line. */
export const nameMeasure = ({ measure, protocol, k }) =>
  (measure ?? protocol ?? '') + (typeof k === 'number' ? `, k = ${k}` : '');

/* [step, measure, figure, value] of all lines. */
function listFigures() {
  return run.all.results.flatMap(line =>
    FIGURES.filter(key => typeof line[key] === 'number').map(key => [
      line.step ?? 0,
      nameMeasure(line),
      key,
      line[key],
    ]),
  );
}

function drawResults() {
  const figures = listFigures();
  drawTable(figures);
  drawCurves(figures.filter(([, , key]) => key === 'accuracy' || key === 'top1'));
}

function drawTable(figures) {
  const rows = figures.slice(-MOST_ROWS).reverse().map(([step, measure, key, value]) =>
    [formatNumber(step), measure, key, formatNumber(value)]);
  find('.table', section).replaceChildren(rows.length
    ? makeTable('Results of foil eval, newest first', ['step', 'measure', 'figure', 'value'], rows)
    : make('p', { className: 'text' }, 'No evaluations yet. Results of foil eval appear here.'));
}

/* Draws accuracies over the steps, a curve for each measure. */
function drawCurves(figures) {
  const box = find('.plot', section), keys = find('.keys', section);
  const steps = [...new Set(figures.map(([step]) => step))].sort((a, b) => a - b);
  graph?.destroy();
  graph = null;
  box.hidden = keys.hidden = steps.length < 2;
  if (box.hidden) return;
  const names = [...new Set(figures.map(nameFigure))];
  const findValue = (step, name) =>
    figures.findLast(figure => figure[0] === step && nameFigure(figure) === name)?.[3];
  const rows = steps.map(step => [
    step,
    ...names.map(name => findValue(step, name) ?? null),
  ]);
  keys.replaceChildren(...names.map((name, i) => makeKey(name, i, '')));
  box.ariaLabel = `Accuracies over the steps: ${names.join(', ')}; values in the table below`;
  graph = makeGraph(box, rows, {
    labels: ['step', ...names],
    series: Object.fromEntries(names.map((name, i) => [name, styleOf(i)])),
    connectSeparatedPoints: true,
    drawPoints: true,
    pointSize: 3,
  });
}

const nameFigure = ([, measure, key]) => `${measure} ${key}`.trim();
