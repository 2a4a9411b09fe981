/* What all plots by Dygraph have in common. */

import { colourOf, make } from './dom.js';

/* Five hues in two forms, as for classes: the second five are dashed. */
export const styleOf = i => ({ color: colourOf(`hue-${i % 5}`), strokePattern: i >= 5 ? [5, 3] : null, strokeWidth: 2 });

/* A line of the key: the hue, the name, the value in an element of the caller. */
export const makeKey = (name, i, value) => make('span', {},
  make('i', { className: i >= 5 ? 'dashed' : '', style: `--hue: var(--hue-${i % 5})` }), `${name} `, value);

export function makeGraph(element, rows, options) {
  const axis = { axisLabelFormatter: shortenNumber };
  return new Dygraph(element, rows, {
    legend: 'never', highlightCircleSize: 3, xRangePad: 4, yRangePad: 8, axisLabelFontSize: 11, rightGap: 8,
    gridLineColor: colourOf('line'), axisLineColor: colourOf('line'),
    axes: { x: { ...axis, pixelsPerLabel: 50 }, y: { ...axis, axisLabelWidth: 46, pixelsPerLabel: 32 } },
    ...hasFinger() && { interactionModel: {} },
    ...options,
  });
}

/* A finger scrolls the page over a plot; Dygraph would take it for itself. */
const hasFinger = () => matchMedia('(pointer: coarse)').matches;

function shortenNumber(value) {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  return String(+value.toPrecision(3));
}
