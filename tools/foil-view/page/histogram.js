/* Histograms of cosines, -1 to 1. */

import { find, makeSvg } from './dom.js';

/* Text is above TOP, the axis below BASE. */
const WIDTH = 320, TOP = 30, BASE = 86, HEIGHT = 102;

/* series: {name, counts, colour}, each scaled to its own highest bin.
 * mark: {name, cosine}, a line with its name, or undefined. */
export function drawHistogram(box, label, series, mark) {
  const svg = drawAreas(box, label, series, ['−1', 'cosine', '1']);
  if (mark) svg.append(...makeMark(mark));
  series.forEach((one, i) =>
    svg.append(makeText(4, 11 + 13 * i, one.name, 'start', one.colour)),
  );
}

/* A histogram of other numbers than cosines; words: left, middle and right label. */
export const drawCounts = (box, label, counts, words) =>
  drawAreas(box, label, [{ counts, colour: 'var(--near)' }], words);

function drawAreas(box, label, series, words) {
  const svg = makeSvg('svg', {
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    role: 'img',
    'aria-label': label,
  });
  svg.append(
    ...series.map(makeArea),
    makeSvg('path', { class: 'base', d: `M0 ${BASE}H${WIDTH}` }),
    ...['start', 'middle', 'end'].map((anchor, i) =>
      makeText((i * WIDTH) / 2, HEIGHT - 3, words[i], anchor),
    ),
  );
  box.replaceChildren(svg);
  return svg;
}

function makeArea({ counts, colour }) {
  const step = WIDTH / counts.length, most = Math.max(...counts, 1);
  const steps = counts.map((count, i) => `V${(BASE - (BASE - TOP) * count / most).toFixed(1)}H${((i + 1) * step).toFixed(1)}`);
  return makeSvg('path', {
    class: 'area',
    style: `fill: ${colour}`,
    d: `M0 ${BASE}${steps.join('')}V${BASE}Z`,
  });
}

function makeMark({ name, cosine }) {
  const x = (cosine + 1) / 2 * WIDTH, right = x < WIDTH * .75;
  return [makeSvg('path', { class: 'mark', d: `M${x.toFixed(1)} ${TOP - 14}V${BASE}` }),
    makeText(x + (right ? 4 : -4), TOP - 6, name, right ? 'start' : 'end')];
}

function makeText(x, y, text, anchor, colour = 'var(--soft)') {
  return makeSvg('text', { x, y, 'text-anchor': anchor, style: `fill: ${colour}` }, text);
}

export const clearHistogram = section => find('.histogram', section).replaceChildren();
