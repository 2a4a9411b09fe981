/* Curves of all numbers of the steps, by Dygraph: raw values faint, and their
 * moving mean. All curves share one window of steps. */

import { addDownloads } from './download.js';
import { colourOf, find, formatNumber, make } from './dom.js';
import { groupColumns } from './groups.js';
import { onChange, run } from './model.js';

/* Weight of a new value in the moving mean. */
const MEAN = .06;

const section = find('#curves'), box = find('.plots', section);
let plots = [];

export function startCurves() {
  addDownloads(section, listMetrics, () => run.all.metrics);
  onChange('columns', makePlots);
  onChange('metrics', drawSoon);
  makePlots();
}

export function makePlots() {
  for (const plot of plots) plot.graph.destroy();
  plots = [];
  box.replaceChildren();
  if (run.all.metrics.total.length < 2) {
    box.append(make('p', { className: 'say' }, 'Curves begin with the second step.'));
    onNextMetrics = makePlots;
    return;
  }
  for (const group of groupColumns(run.all.metrics.columns)) plots.push(makePlot(group));
}

/* Steps may come by the hundred a second; curves are drawn twice. */
let due = null, onNextMetrics = null;
function drawSoon() {
  due ??= setTimeout(() => {
    due = null;
    const draw = onNextMetrics ?? drawPlots;
    onNextMetrics = null;
    draw();
  }, 500);
}

function drawPlots() {
  for (const plot of plots) {
    plot.graph.updateOptions({ file: makeRows(plot.group.names) });
    showValues(plot, run.all.metrics.total.length - 1);
  }
}

/* ---- one plot ---- */

function makePlot(group) {
  const values = group.names.map(() => make('b'));
  const canvas = make('div', { className: 'plot', role: 'img' });
  box.append(make('figure', {}, make('figcaption', {}, make('strong', {}, group.title), ...group.names.map((name, i) => makeKey(name, i, values[i]))), canvas));
  const plot = { group, values, canvas };
  plot.graph = new Dygraph(canvas, makeRows(group.names), optionsOf(group, plot));
  showValues(plot, run.all.metrics.total.length - 1);
  return plot;
}

/* Five hues in two forms, as for classes: the second five are dashed. */
const hueOf = i => `hue-${i % 5}`;
const dashOf = i => i >= 5 ? [5, 3] : null;

const makeKey = (name, i, value) => make('span', {}, make('i', { className: i >= 5 ? 'dashed' : '', style: `--hue: var(--${hueOf(i)})` }), `${name} `, value);

/* Rows of Dygraph: [step, raw, mean, raw, mean, ...]. */
function makeRows(names) {
  const { total, columns } = run.all.metrics;
  const series = names.flatMap(name => [columns[name], smooth(columns[name])]);
  return total.map((step, i) => [step, ...series.map(column => column[i] ?? null)]);
}

function smooth(column) {
  let mean = null;
  return column.map(value => value == null ? mean : mean = mean == null ? value : mean + MEAN * (value - mean));
}

const rawOf = name => `${name} `;   // of two series of one name Dygraph takes one

function optionsOf({ names, logarithmic }, plot) {
  const series = Object.fromEntries(names.flatMap((name, i) => {
    const color = colourOf(hueOf(i)), strokePattern = dashOf(i);
    return [[rawOf(name), { color: color.replace('rgb(', 'rgba(').replace(')', ', .25)'), strokeWidth: 1 }], [name, { color, strokePattern, strokeWidth: 2 }]];
  }));
  return {
    labels: ['step', ...names.flatMap(name => [rawOf(name), name])], series, logscale: logarithmic,
    legend: 'never', highlightCircleSize: 3, xRangePad: 4, yRangePad: 8, axisLabelFontSize: 11,
    gridLineColor: colourOf('line'), axisLineColor: colourOf('line'), rightGap: 8,
    axes: { x: { axisLabelFormatter: shortenNumber, pixelsPerLabel: 50 }, y: { axisLabelFormatter: shortenNumber, axisLabelWidth: 46, pixelsPerLabel: 32 } },
    highlightCallback: (event, step, points, row) => selectStep(row),
    unhighlightCallback: () => selectStep(null),
    zoomCallback: (first, last) => zoomAll(plot, first, last),
  };
}

function shortenNumber(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return size && size < 1e-3 ? value.toExponential(0) : String(+value.toPrecision(3));
}

/* ---- all plots together ---- */

function selectStep(row) {
  for (const plot of plots) {
    if (row == null) plot.graph.clearSelection();
    else plot.graph.setSelection(row);
    showValues(plot, row ?? run.all.metrics.total.length - 1);
  }
}

function showValues({ group, values, canvas }, row) {
  const { total, columns } = run.all.metrics;
  group.names.forEach((name, i) => values[i].textContent = formatNumber(columns[name][row] ?? columns[name].findLast(value => value != null)));
  canvas.ariaLabel = `${group.title} at step ${total[row]}: ${group.names.map((name, i) => `${name} ${values[i].textContent}`).join(', ')}`;
}

function zoomAll(from, first, last) {
  const { total } = run.all.metrics, whole = first <= total[0] && last >= total.at(-1);
  for (const { graph } of plots) if (graph !== from.graph) graph.updateOptions({ dateWindow: whole ? null : [first, last] });
}

function listMetrics() {
  const { total, columns } = run.all.metrics, names = Object.keys(columns);
  return [['total', ...names], ...total.map((step, i) => [step, ...names.map(name => columns[name][i])])];
}
