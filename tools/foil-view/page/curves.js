/* Curves of all numbers of the steps: raw values faint, and their moving mean.
 * All share one window of steps and one step that is pointed at. */

import { addDownloads } from './download.js';
import { find, formatNumber, make } from './dom.js';
import { groupColumns } from './groups.js';
import { delay, onChange, run } from './model.js';
import { makeGraph, makeKey, styleOf } from './plot.js';

const section = find('#curves'), box = find('.plots', section);
let plots = [];

export function startCurves() {
  addDownloads(section, listMetrics, () => run.all.metrics);
  onChange('columns', makePlots);
  onChange('metrics', delay(1000, drawPlots));
  makePlots();
}

export function makePlots() {
  for (const plot of plots) plot.graph.destroy();
  const groups = run.all.metrics.total.length > 1 ? groupColumns(run.all.metrics.columns) : [];
  box.replaceChildren();
  plots = groups.map(makePlot);
  if (!plots.length) box.append(make('p', { className: 'say' }, 'Curves begin with the second step.'));
}

/* Plots that nobody sees wait until the page is scrolled to them. */
function drawPlots() {
  if (document.hidden) return;
  if (!plots.length) makePlots();
  for (const plot of plots.filter(isSeen)) {
    plot.graph.updateOptions({ file: makeRows(plot.group.names) });
    showValues(plot, lastRow());
  }
}

function isSeen({ canvas }) {
  const { top, bottom } = canvas.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

const lastRow = () => run.all.metrics.total.length - 1;

/* ---- one plot ---- */

function makePlot(group) {
  const values = group.names.map(() => make('b')), canvas = make('div', { className: 'plot', role: 'img' });
  const keys = group.names.map((name, i) => makeKey(name, i, values[i]));
  box.append(make('figure', {}, make('figcaption', {}, make('strong', {}, group.title), ...keys), canvas));
  const plot = { group, values, canvas };
  plot.graph = makeGraph(canvas, makeRows(group.names), {
    ...nameSeries(group.names), logscale: group.logarithmic,
    highlightCallback: (event, step, points, row) => selectStep(row),
    unhighlightCallback: () => selectStep(null),
    zoomCallback: (first, last) => zoomAll(plot, first, last),
  });
  showValues(plot, lastRow());
  return plot;
}

/* Two series for each name: Dygraph wants different names for them. */
const rawOf = name => `${name} (raw)`;

function nameSeries(names) {
  const series = {}, opacity = lastRow() > 1000 ? .1 : .25;    // many points make a band
  names.forEach((name, i) => {
    const style = styleOf(i);
    series[rawOf(name)] = { color: style.color.replace('rgb(', 'rgba(').replace(')', `, ${opacity})`), strokeWidth: 1, highlightCircleSize: 0 };
    series[name] = style;
  });
  return { series, labels: ['step', ...Object.keys(series)] };
}

/* Rows of Dygraph: [step, raw, mean, raw, mean, ...]. */
function makeRows(names) {
  const { total, columns } = run.all.metrics;
  const series = names.flatMap(name => [columns[name], smooth(columns[name])]);
  return total.map((step, i) => [step, ...series.map(column => column[i])]);
}

/* The moving mean over about 2.5 % of all values, 16 at least. What is told
 * once an epoch stays as it is until the next epoch. */
function smooth(column) {
  const known = column.filter(value => value != null).length;
  const weight = known < column.length / 2 ? 1 : Math.min(1 / 16, 40 / known);
  let mean = null, count = 0;
  return column.map(value => value == null ? mean : mean = mean + Math.max(weight, 1 / ++count) * (value - mean));
}

function showValues({ group, values, canvas }, row) {
  const { total, columns } = run.all.metrics;
  const words = group.names.map(name => formatNumber(columns[name][row] ?? columns[name].findLast(value => value != null)));
  words.forEach((word, i) => values[i].textContent = word);
  canvas.ariaLabel = `${group.title} at step ${total[row]}: ${group.names.map((name, i) => `${name} ${words[i]}`).join(', ')}`;
}

/* ---- all plots together ---- */

function selectStep(row) {
  find('.at', section).textContent = row == null ? '' : `step ${formatNumber(run.all.metrics.total[row])}`;
  for (const plot of plots) {
    if (row == null) plot.graph.clearSelection();
    else plot.graph.setSelection(row);
    showValues(plot, row ?? lastRow());
  }
}

function zoomAll(from, first, last) {
  const { total } = run.all.metrics, whole = first <= total[0] && last >= total.at(-1);
  for (const { graph } of plots) if (graph !== from.graph) graph.updateOptions({ dateWindow: whole ? null : [first, last] });
}

function listMetrics() {
  const { total, columns } = run.all.metrics, names = Object.keys(columns);
  return [['total', ...names], ...total.map((step, i) => [step, ...names.map(name => columns[name][i])])];
}
