/* What the newest checkpoint keeps of each sample: the temperatures that were
 * learnt, and the images that could not be used. */

import { addDownloads } from './download.js';
import { find, formatNumber, make, makeTable, say } from './dom.js';
import { drawCounts } from './spread.js';
import { nameOf, onChange, run } from './model.js';
import { makeImage, makeName } from './picture.js';

const section = find('#samples');

export function startSamples() {
  addDownloads(section, listExtremes, () => run.all.samples);
  onChange('samples', drawSamples);
  drawSamples();
}

function drawSamples() {
  const { columns = [], replaced = { n: 0 }, checkpoint } = run.all.samples ?? {};
  section.hidden = !columns.length && !replaced.n;
  if (section.hidden) return;
  find('small', section).textContent = `as ${checkpoint} has them`;
  find('.columns', section).replaceChildren(...columns.map(drawColumn));
  find('.replaced', section).replaceChildren(...replaced.n ? drawReplaced(replaced) : []);
}

/* ---- temperatures ---- */

const KINDS = { 'view0.tau': 'of the images', 'view1.tau': 'of the texts' };
const titleOf = name => `Temperatures ${KINDS[name] ?? 'of the images'}`;

function drawColumn({ name, n, each, mean, low, high, counts, smallest, largest }) {
  const spread = make('div', { className: 'spread' }),
    items = each > 1 ? 'captions' : 'images';
  drawCounts(spread, `${titleOf(name)}: ${formatNumber(low)} to ${formatNumber(high)}, ${formatNumber(mean)} on average`,
    counts, [formatNumber(low), 'temperature', formatNumber(high)]);
  return make('figure', {},
    make('h3', {}, titleOf(name)),
    make('p', { className: 'say' }, ...say`Of ${formatNumber(n)} ${items} that were trained, ${formatNumber(mean)} on average. `,
      'A high temperature spreads the weight over many negatives: common images, whose negatives are often of their own kind. A low one puts it on the hardest.'),
    spread, drawRow('highest', largest, each), drawRow('lowest', smallest, each));
}

/* Images with their numbers; captions with their words, too. */
const drawRow = (word, list, each) =>
  make(
    'div',
    { className: each > 1 ? 'extremes worded' : 'extremes' },
    make('b', {}, word),
    ...list.map(({ id, caption, label, x }) =>
      make(
        'figure',
        { title: `${caption ?? nameOf(label, id)}, image ${id}: ${x}` },
        makeImage(id),
        make('figcaption', {}, formatNumber(x)),
        ...(each > 1 ? [make('q', {}, caption ?? 'no caption')] : []),
      ),
    ),
  );

function listExtremes() {
  const { columns = [], replaced = { list: [] } } = run.all.samples ?? {};
  const rows = columns.flatMap(({ name, smallest, largest }) =>
    [...largest, ...smallest].map(({ id, label, caption, x }) => [
      name,
      id,
      nameOf(label, id),
      caption ?? '',
      x,
      '',
      '',
    ]),
  );
  return [
    ['what', 'image', 'class', 'caption', 'value', 'replaced by', 'reason'],
    ...rows,
    ...replaced.list.map(({ id, label, times, used, reason }) => [
      'replaced',
      id,
      nameOf(label, id),
      '',
      times,
      used,
      reason ?? '',
    ]),
  ];
}

/* ---- images that were replaced ---- */

function drawReplaced({ n, list }) {
  const rows = list.map(({ id, label, used, epoch, step, times, reason }) => [
    makeName(label, id), make('span', {}, `image ${id}`),
    make('span', { className: 'substitute' }, makeImage(used), `image ${used}`),
    make('span', {}, `epoch ${epoch + 1}, step ${step + 1}${times > 1 ? `; ${times} times` : ''}`),
    make('span', { className: 'reason' }, reason ?? 'it can be read now')]);
  return [
    make('h3', {}, n === 1 ? 'One image could not be used' : `${formatNumber(n)} images could not be used`),
    makeTable(`Another image took the place of each${n > list.length ? `; the latest ${list.length} are shown` : ''}`,
      ['image', '', 'replaced by', 'when, last', 'why'], rows)];
}
