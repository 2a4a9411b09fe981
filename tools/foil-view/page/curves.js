/* Curves of all metrics: raw values faint, and their moving mean; exact values, such as
 * a schedule, without a mean. All plots share the zoom and the step at the mouse. */

import { addDownloads } from './download.js';
import { find, formatNumber, make } from './dom.js';
import { groupColumns, nameColumn } from './groups.js';
import { delay, onChange, run } from './model.js';
import { makeGraph, makeKey, styleOf } from './plot.js';

const section = find('#curves'), box = find('.plots', section);
let plots = [];
let zoomed = null; // the first and last visible step, null: all

export function startCurves() {
  addDownloads(section, listMetrics, () =>
    isCompared()
      ? listRuns().map(({ run, metrics }) => ({ run, metrics }))
      : run.all.metrics,
  );
  onChange('columns theme', makePlots);
  onChange('metrics', delay(1000, drawPlots));
  makePlots();
}

/* All runs of the page, its own first. */
const listRuns = () => [run.all, ...run.all.compared ?? []];
const isCompared = () => listRuns().length > 1;

function makePlots() {
  for (const plot of plots) plot.graph.destroy();
  const groups = run.all.metrics.total.length > 1 ? listGroups() : [];
  axis = makeAxis();
  box.replaceChildren();
  plots = groups.map(makePlot);
  if (!plots.length)
    box.append(make('p', { className: 'text' }, 'Curves start at the second step.'));
}

/* For one run a plot shows the columns of a group; for several runs it shows one column,
 * with a colour for each run. */
function listGroups() {
  const groups = groupColumns(run.all.metrics.columns);
  return !isCompared() ? groups : groups.flatMap(group =>
    group.names.map(name => ({ ...group, names: [name], title: group.title +
      (group.names.length > 1 ? `: ${nameColumn(name)}` : '') })));
}

/* Draws only plots in the window. */
function drawPlots() {
  if (document.hidden) return;
  if (!plots.length) makePlots();
  axis = makeAxis();
  for (const plot of plots.filter(isSeen)) {
    plot.graph.updateOptions({ file: makeRows(plot) });
    showValues(plot, lastRow());
  }
}

function isSeen({ canvas }) {
  const { top, bottom } = canvas.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

/* ---- the axis: the steps of all runs, and the place of each step on it ---- */

let axis = { steps: [], places: new Map() };

function makeAxis() {
  const all = listRuns().map(({ metrics }) => metrics), own = run.all.metrics.total;
  const steps = !isCompared()
    ? own
    : [...new Set(all.flatMap(({ total }) => total))].sort((a, b) => a - b);
  const place = new Map(steps.map((step, i) => [step, i]));
  return {
    steps,
    places: new Map(
      all.map(metrics => [
        metrics,
        isCompared() && metrics.total.map(step => place.get(step)),
      ]),
    ),
  };
}

/* A column of a run, at the steps of the axis. */
function alignColumn(metrics, column) {
  const places = axis.places.get(metrics);
  if (!places) return column;
  const spread = Array(axis.steps.length).fill(null);
  column.forEach((value, i) => spread[places[i]] = value);
  return spread;
}

const lastRow = () => axis.steps.length - 1;

/* ---- one plot ---- */

/* The lines of a plot: columns of one run, or one column of several runs. */
const listLines = ({ names }) =>
  isCompared()
    ? listRuns()
        .filter(({ metrics }) => metrics.columns[names[0]])
        .map(({ run: word, metrics }) => ({ word, metrics, name: names[0] }))
    : names.map(name => ({ word: nameColumn(name), metrics: run.all.metrics, name }));

const columnOf = ({ metrics, name }) => metrics.columns[name] ?? [];

function makePlot(group) {
  const lines = listLines(group),
    values = lines.map(() => make('b')),
    canvas = make('div', { className: 'plot', role: 'img' });
  const hues = lines.map(({ metrics }, i) =>
    isCompared() ? listRuns().findIndex(one => one.metrics === metrics) : i,
  );
  const keys = lines.map(({ word }, i) => makeKey(word, hues[i], values[i]));
  box.append(
    make(
      'figure',
      {},
      make('figcaption', {}, make('strong', {}, group.title), ...keys),
      canvas,
    ),
  );
  const plot = { group, lines, values, canvas };
  plot.graph = makeGraph(canvas, makeRows(plot), {
    ...nameSeries(hues),
    dateWindow: zoomed,
    logscale: group.logarithmic,
    connectSeparatedPoints: isCompared(),
    highlightCallback: (event, step, points, row) => selectStep(row),
    unhighlightCallback: () => selectStep(null),
    zoomCallback: (first, last) => zoomAll(plot, first, last),
  });
  showValues(plot, lastRow());
  return plot;
}

/* Two series for each line, first the raw ones, which are drawn below. Dygraph requires
 * different names. */
function nameSeries(hues) {
  const series = {}, opacity = lastRow() > 1000 ? .1 : .25;    // many points make a band
  hues.forEach((hue, i) => {
    const style = styleOf(hue);
    series[`${i} raw`] = { color: style.color.replace('rgb(', 'rgba(').replace(')', `, ${opacity})`), strokeWidth: 1, highlightCircleSize: 0 };
    series[`${i}`] = style;
  });
  const names = hues.map((_, i) => `${i}`);
  const labels = ['step', ...names.map(name => `${name} raw`), ...names];
  return { series, labels };
}

/* Rows of Dygraph: [step, raw, raw, ..., mean, mean, ...]. */
function makeRows({ group, lines }) {
  const draw = work => lines.map(line =>
    alignColumn(line.metrics, work(columnOf(line))));
  const change = group.exact ? raw => raw : smooth;
  const series = [...draw(raw => raw), ...draw(change)];
  return axis.steps.map((step, i) => [step, ...series.map(column => column[i])]);
}

/* The moving mean over about 2.5 % of all values, 16 at least. A value that comes once
 * an epoch is constant until the next one. */
function smooth(column) {
  const known = column.filter(value => value != null).length;
  const weight = known < column.length / 2 ? 1 : Math.min(1 / 16, 40 / known);
  let mean = null, count = 0;
  return column.map(value =>
    value == null ? mean : (mean = mean + Math.max(weight, 1 / ++count) * (value - mean)),
  );
}

/* The value of a line at a step of the axis, or else its last value. */
function findValue({ metrics, name }, row) {
  const places = axis.places.get(metrics), column = metrics.columns[name] ?? [];
  const at = places ? places.indexOf(row) : row;
  return column[at] ?? column.findLast(value => value != null);
}

function showValues({ group, lines, values, canvas }, row) {
  const words = lines.map(line => formatNumber(findValue(line, row)));
  words.forEach((word, i) => values[i].textContent = word);
  canvas.ariaLabel = `${group.title} at step ${axis.steps[row]}: ${lines.map(({ word }, i) => `${word} ${words[i]}`).join(', ')}`;
}

/* ---- all plots together ---- */

function selectStep(row) {
  find('.at', section).textContent =
    row == null ? '' : `step ${formatNumber(axis.steps[row])}`;
  for (const plot of plots) {
    if (row == null) plot.graph.clearSelection();
    else plot.graph.setSelection(row);
    showValues(plot, row ?? lastRow());
  }
}

function zoomAll(from, first, last) {
  const { steps } = axis;
  zoomed = first <= steps[0] && last >= steps.at(-1) ? null : [first, last];
  for (const { graph } of plots)
    if (graph !== from.graph) graph.updateOptions({ dateWindow: zoomed });
}

function listMetrics() {
  const names = [
    ...new Set(listRuns().flatMap(({ metrics }) => Object.keys(metrics.columns))),
  ];
  return [
    ['run', 'total', ...names],
    ...listRuns().flatMap(({ run: word, metrics: { total, columns } }) =>
      total.map((step, i) => [word, step, ...names.map(name => columns[name]?.[i])]),
    ),
  ];
}
