/* How good the encoder is: the comparison of the run's end, RUN/table.json, and the
 * results of foil eval, RUN/results.jsonl, over the epochs. */

import { addDownloads } from './download.js';
import { find, formatNumber, formatWhole, make, makeTable, phrase } from './dom.js';
import { onChange, run } from './model.js';
import { makeGraph, makeKey, styleOf } from './plot.js';

/* The figures of a line; its other keys describe the protocol. The first are shares. */
const SHARES = ['accuracy', 'weighted', 'top1', 'top3', 'top5', 'map', 'recall', 'r1'];
const FIGURES = [...SHARES, 'loss'];

/* The downloads have all rows. */
const MOST_ROWS = 30;

/* What the first figure of the table is a share of. */
const WORDS = {
  '1-NN': 'images with a nearest neighbour of their class',
  '10-NN': 'images with their class most frequent among 10 nearest neighbours',
  view: 'images with their other view as the nearest view',
  pairs: 'first answers that are right, mean of both ways',
};

const section = find('#good');
let graph = null;

export function startGood() {
  addDownloads(
    section,
    () => [['step', 'measure', 'figure', 'value'], ...listFigures()],
    () => ({ table: run.all.table, results: run.all.results }),
  );
  onChange('results state theme', drawGood);
  drawGood();
}

/* The name of the measure of a line: that of the table, "1-NN", for neighbours. */
export const nameMeasure = ({ measure, protocol, k }) =>
  measure === 'knn' && typeof k === 'number' ? `${k}-NN` : measure ?? protocol ?? '';

/* [step, measure, figure, value] of all lines. */
const listFigures = () => run.all.results.flatMap(line =>
  FIGURES.filter(key => typeof line[key] === 'number')
    .map(key => [line.step ?? 0, nameMeasure(line), key, line[key]]));

/* ---- the comparison ---- */

/** The last row is that of the trained encoder, the first what it is compared with;
 * epoch: after which epoch, 0: at the end of the run.
 * @typedef {{measure: string, n: number, noise: number, better: boolean, epoch: number,
 *   rows: [string, number][]}} Table */

/** Of the end of the run, or else of its newest epoch with a comparison.
 * @returns {Table | null} */
const readTable = () => run.all.table ? readEnd(run.all.table)
  : readEpoch(run.all.results.findLast(({ n, text }) => n && text));

/** @returns {Table} */
function readEnd(table) {
  const { n, noise, better, trained, untrained, pixels, correlations, encoders } = table;
  const measure = trained ? Object.keys(trained).find(key => key !== 'name') : 'pairs';
  const rows = trained
    ? [pixels, untrained, trained].map(({ name, [measure]: share }) =>
      /** @type {[string, number]} */ ([name, share]))
    : listShares({ correlations, untrained, own: encoders });
  if (table.base) rows[0][0] = table.base;
  return { measure, n, noise, better, epoch: 0, rows };
}

/** The noise is twice the standard error of a difference.
 * @returns {Table | null} */
function readEpoch(line) {
  if (!line) return null;
  const { n, accuracy: own, pixels, untrained, correlations, epoch } = line;
  const rows = listShares({ pixels, correlations, untrained, own });
  const noise = Math.max(2 * Math.sqrt(2 * own * (1 - own) / n), 2 / n);
  const better = own - rows[0][1] > noise;
  return { measure: nameMeasure(line), n, noise, better, epoch, rows };
}

const NAMES = { pixels: 'raw pixels', correlations: 'canonical correlations',
  untrained: 'the untrained encoder', own: 'the trained encoder' };

/** @returns {[string, number][]} */
const listShares = shares => Object.entries(shares).filter(([, share]) => share != null)
  .map(([key, share]) => [NAMES[key], share]);

const formatPercent = share => `${(100 * share).toFixed(1)}\u00a0%`;
const percentOf = share => share == null ? null : 100 * share;
const formatPoints = share => (100 * share).toFixed(1);

function drawGood() {
  const table = readTable(), figures = listFigures();
  find('.verdict', section).replaceChildren(...describeGain(table));
  find('.text', section).replaceChildren(...describeTable(table));
  find('.bars', section).replaceChildren(...table ? table.rows.map(drawBar) : []);
  drawTable(figures);
  drawCurve(figures, table);
}

function describeGain(table) {
  if (!table) return describeLatest();
  const { rows, noise, better, epoch } = table, [against, base] = rows[0];
  const gain = rows.at(-1)[1] - base, when = epoch ? `Epoch ${epoch}: ` : '';
  const word = epoch ? better ? 'better' : 'no better' : better ? 'Better' : 'No better';
  const points = formatPoints(better ? gain : Math.abs(gain));
  return [`${when}${word} than `, ...better
    ? phrase`${against} by ${points} points, noise ${formatPoints(noise)}`
    : phrase`${against}: ${(gain < 0 ? '−' : '+') + points} points, noise ${formatPoints(noise)}`];
}

/* Without a comparison: the newest result. */
function describeLatest() {
  const line = run.all.results.findLast(line => SHARES.some(key => line[key] != null));
  if (!line) return [run.all.living ? 'No comparison yet' : 'Not compared'];
  const share = line[SHARES.find(key => line[key] != null)];
  return [`${nameStep(line.step)}: ${nameMeasure(line)} ${formatPercent(share)}`];
}

function describeTable(table) {
  if (table)
    return [`Share of ${formatWhole(table.n)} ${WORDS[table.measure] ?? `images by ${table.measure}`}. `,
      'A difference below the noise, two standard errors, may be chance.'];
  const { living, run: name } = run.all;
  return [living
    ? 'foil run compares the encoder with raw pixels and with the untrained encoder, after some epochs and at the end; the figures appear here. Also '
    : 'To see whether the encoder is better than raw pixels, start it again by foil run, which compares at its end; or ',
  make('code', {}, `foil eval follow${living ? '' : ' --once'} -r ${name} TRAIN TEST`),
  living ? ' evaluates its checkpoints.' : ' evaluates its checkpoints by labels or captions, for a curve on this card.'];
}

function drawBar([name, share], i, all) {
  const own = i === all.length - 1;
  return make('div', { className: own ? 'own' : '' }, make('span', {}, name),
    make('span', { className: 'bar' }, make('i', { style: `width: ${100 * share}%` })),
    make('b', {}, formatPercent(share)));
}

function drawTable(figures) {
  const rows = figures.slice(-MOST_ROWS).reverse().map(([step, measure, key, value]) =>
    [formatNumber(step), measure, key, formatNumber(value)]);
  find('details', section).hidden = find('.downloads', section).hidden = !rows.length;
  find('.table', section).replaceChildren(
    makeTable('Results of foil eval, newest first', ['step', 'measure', 'figure', 'value'], rows));
}

/* ---- the curve: shares over the epochs, and lines for what is compared ---- */

/* Epochs done at a step; null without their number. */
function epochOf(step) {
  const { steps, status } = run.all, epochs = status['train 1']?.values.epochs;
  return steps && epochs ? step * epochs / steps : null;
}

const nameStep = step => epochOf(step) == null ? `Step ${formatWhole(step)}`
  : `Epoch ${formatNumber(epochOf(step), 1)}`;

function drawCurve(figures, table) {
  const box = find('.plot', section), keys = find('.keys', section);
  const all = figures.filter(([, , key]) => ['accuracy', 'top1', 'r1'].includes(key));
  const compared = all.filter(([, measure]) => measure === table?.measure);
  const shown = compared.length ? compared : all;
  const steps = [...new Set(shown.map(([step]) => step))].sort((a, b) => a - b);
  graph?.destroy();
  graph = null;
  box.hidden = keys.hidden = steps.length < 2;
  if (box.hidden) return;
  const names = [...new Set(shown.map(([, measure]) => measure))];
  const lines = names.includes(table?.measure) ? table.rows.slice(0, -1) : [];
  const labels = [...names, ...lines.map(([name]) => name)];
  const findShare = (step, name) =>
    shown.findLast(figure => figure[0] === step && figure[1] === name)?.[3] ?? null;
  const rows = steps.map(step => [epochOf(step) ?? step,
    ...names.map(name => percentOf(findShare(step, name))),
    ...lines.map(([, share]) => percentOf(share))]);
  keys.replaceChildren(...labels.map((name, i) => makeKey(name, i, '')),
    make('span', {}, epochOf(0) == null ? '%, over steps' : '%, over epochs'));
  box.ariaLabel = `Shares over the epochs: ${labels.join(', ')}; values in the table below`;
  graph = makeGraph(box, rows, {
    labels: ['epoch', ...labels],
    series: Object.fromEntries(labels.map((name, i) => [name, styleOf(i)])),
    connectSeparatedPoints: true,
    drawPoints: true,
    pointSize: 3,
  });
}
