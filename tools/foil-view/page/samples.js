/* The state of samples in the newest checkpoint: learnt temperatures, and images that
 * could not be used. */

import { find, formatNumber, make, makeTable, phrase } from './dom.js';
import { drawCounts } from './histogram.js';
import { nameOf, onChange, run } from './model.js';
import { makeImage, makeName } from './picture.js';

const section = find('#samples');

export function startSamples() {
  onChange('samples', drawSamples);
  drawSamples();
}

function drawSamples() {
  const { columns = [], replaced = { n: 0 }, checkpoint } = run.all.samples ?? {};
  section.hidden = !columns.length && !replaced.n;
  if (section.hidden) return;
  find('small', section).textContent = `in checkpoint ${checkpoint}`;
  find('.columns', section).replaceChildren(...columns.map(drawColumn));
  find('.replaced', section).replaceChildren(...replaced.n ? drawReplaced(replaced) : []);
}

/* ---- temperatures ---- */

const KINDS = { 'view0.tau': 'of the images', 'view1.tau': 'of the texts' };
const titleOf = name => `Temperatures ${KINDS[name] ?? 'of the images'}`;

function drawColumn({ name, n, each, mean, low, high, counts, smallest, largest }) {
  const histogram = make('div', { className: 'histogram' }),
    items = each > 1 ? 'captions' : 'images';
  drawCounts(histogram, `${titleOf(name)}: ${formatNumber(low)} to ${formatNumber(high)}, mean ${formatNumber(mean)}`,
    counts, [formatNumber(low), 'temperature', formatNumber(high)]);
  return make('figure', {},
    make('h3', {}, titleOf(name)),
    make('p', { className: 'text' }, ...phrase`${formatNumber(n)}`, ` trained ${items}, mean `, ...phrase`${formatNumber(mean)}. `,
      'A high temperature spreads the weight over many negatives: typical of common images with many similar negatives. A low one puts it on the hardest negatives.'),
    histogram, drawRow('highest', largest, each), drawRow('lowest', smallest, each));
}

/* A row of images with their values, and with the text of captions. */
const drawRow = (word, list, each) =>
  make(
    'div',
    { className: each > 1 ? 'extremes with-texts' : 'extremes' },
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

/* ---- images that were replaced ---- */

function drawReplaced({ n, list }) {
  const rows = list.map(({ id, label, used, epoch, step, times, reason }) => [
    makeName(label, id), make('span', {}, `image ${id}`),
    make('span', { className: 'substitute' }, makeImage(used), `image ${used}`),
    make('span', {}, `epoch ${epoch + 1}, step ${step + 1}${times > 1 ? `; ${times} times` : ''}`),
    make('span', { className: 'reason' }, reason ?? 'readable now')]);
  return [
    make('h3', {}, n === 1 ? '1 image could not be used' : `${formatNumber(n)} images could not be used`),
    makeTable(`Another image was used instead${n > list.length ? `; latest ${list.length} shown` : ''}`,
      ['image', '', 'replaced by', 'last time', 'reason'], rows)];
}
