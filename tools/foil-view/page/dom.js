/* Helpers for elements, numbers and colours. */

export const find = (query, inside = document) => inside.querySelector(query);
export const findAll = (query, inside = document) => [...inside.querySelectorAll(query)];

/* Makes an HTML element; unknown properties become attributes. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties))
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export function makeSvg(tag, attributes = {}, ...children) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* Text with bold numbers: phrase`${3} of ${4} pairs` returns nodes for append(). */
export function phrase(words, ...values) {
  return words.flatMap((text, i) =>
    i < values.length ? [text, make('b', {}, String(values[i]))] : [text]);
}

/* A table with a head; each row is an array of texts or elements. */
export function makeTable(caption, head, rows) {
  const cell = tag => value =>
    make(tag, typeof value === 'number' ? { className: 'number' } : {}, value);
  return make('table', {},
    make('caption', {}, caption),
    make('thead', {}, make('tr', {}, ...head.map(cell('th')))),
    make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map(cell('td'))))));
}

export function formatNumber(x, digits = 3) {
  if (x == null || Number.isNaN(x)) return '–';
  const size = Math.abs(x);
  if (size && (size >= 1e6 || size < 1e-3)) return x.toExponential(1);
  if (Number.isInteger(x)) return x.toLocaleString('en');
  return x.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : digits);
}

export const formatWhole = x => x.toLocaleString('en');

/* Never -0.00. */
export const formatCosine = x => Number(x.toFixed(2)).toFixed(2);

export const formatShare = x => x == null ? '–' : `${(100 * x).toFixed(x && x < .1 ? 1 : 0)}\u00a0%`;

export function formatSpan(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}

/* The colour of a variable of view.css in the present theme. */
export function colourOf(name) {
  const probe = document.body.appendChild(make('i', { style: `color: var(--${name})` }));
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

/* Classes have five hues in two forms: ten classes look different even to colour-blind
 * readers. */
export const hueOf = label => label < 0 ? 'var(--soft)' : `var(--hue-${label % 5})`;
export const formOf = label =>
  Math.floor(Math.max(label, 0) / 5) % 2 ? 'striped' : 'plain';

export const prefersStillness = () =>
  matchMedia('(prefers-reduced-motion: reduce)').matches;
