/* What all plots of Dygraph share. */

import { colourOf, make, makeSvg } from './dom.js';

/* Five hues, and dashes: where lines coincide, the lower one is visible in the gaps. */
const DASHES = [null, [9, 7], [3, 5], [12, 4, 3, 4]];

const dashesOf = i => DASHES[i % DASHES.length];

export const styleOf = i => ({
  color: colourOf(`hue-${i % 5}`), strokePattern: dashesOf(i), strokeWidth: 2,
});

/* An entry of the legend: a sample of the line, its name, and the caller's element for
 * the value. */
export function makeKey(name, i, value) {
  const style = `stroke: var(--hue-${i % 5})`;
  const dashes = dashesOf(i)?.join(' ') ?? 'none';
  const stroke = makeSvg('svg', { viewBox: '0 0 28 4', 'aria-hidden': true },
    makeSvg('path', { d: 'M0 2H28', style, 'stroke-dasharray': dashes }));
  return make('span', {}, stroke, `${name} `, value);
}

export function makeGraph(element, rows, options) {
  const axis = { axisLabelFormatter: shortenNumber };
  const { Dygraph } = /** @type {any} */ (window);
  return new Dygraph(element, rows, {
    legend: 'never',
    highlightCircleSize: 3,
    xRangePad: 4,
    yRangePad: 8,
    axisLabelFontSize: 11,
    rightGap: 8,
    gridLineColor: colourOf('line'),
    axisLineColor: colourOf('line'),
    axes: {
      x: { ...axis, pixelsPerLabel: 50 },
      y: { ...axis, axisLabelWidth: 46, pixelsPerLabel: 32 },
    },
    ...(hasFinger() && { interactionModel: {} }),
    ...options,
  });
}

/* On a touch screen a drag scrolls the page; Dygraph would zoom. */
const hasFinger = () => matchMedia('(pointer: coarse)').matches;

function shortenNumber(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3));
}
