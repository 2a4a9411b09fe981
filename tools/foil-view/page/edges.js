/* The lines between the boxes of the dataflow, and the dots on them. */

import { find, makeSvg } from './dom.js';
import { run } from './model.js';

/* Milliseconds of a dot from box to box, new dots and moves per second. Moves are few,
 * since drawing takes CPU time that a trainer on the same machine may need. */
const TRAVEL_MS = 900, MOST_DOTS = 8, MOVES = 15;

/* dots: {dot, path, length, begun} */
let edges = [], svg = null, sent = 0, dots = [];

export function drawEdges(box, boxes) {
  svg = find('.edges', box);
  const listed = listEdges(Object.keys(boxes));
  box.classList.toggle('bow-above', listed.some(edge => edge.bow < 0));
  box.classList.toggle('bow-below', listed.some(edge => edge.bow > 0));
  edges = listed.map(edge => ({ ...edge, d: makePath(box, boxes, edge) }));
  svg.replaceChildren(...edges.map(({ d, kind }) => makeSvg('path', { d, class: kind })),
    ...edges.filter(edge => edge.name).map(edge => makeName(box, boxes, edge)));
}

/* Data flows from select through negatives, if any, augmenters and train to saved.
 * Bows lead back: embeddings for weights, features for the next plan. */
function listEdges(stages) {
  const negatives = stages.find(stage => stage.startsWith('negatives'));
  const augmenters = stages.filter(stage => stage.startsWith('augment')),
    share = 1 / augmenters.length;
  const source = negatives ?? 'select';
  return [
    ...(negatives ? [{ from: 'select', to: negatives, kind: 'data', share: 1 }] : []),
    ...augmenters.flatMap(stage => [
      { from: source, to: stage, kind: 'data', share },
      { from: stage, to: 'train', kind: 'data', share },
    ]),
    { from: 'train', to: 'saved', kind: 'rare', share: 0 },
    ...(negatives
      ? [
          {
            from: 'train',
            to: negatives,
            kind: 'back',
            share: 1,
            bow: 1,
            name: 'embeddings for weights',
          },
        ]
      : []),
    ...(run.all.options['keep-features']
      ? [
          {
            from: 'train',
            to: 'select',
            kind: 'rare',
            share: 0,
            bow: -1,
            name: 'features for the next plan',
          },
        ]
      : []),
  ];
}

function areaOf(element, box) {
  const a = element.getBoundingClientRect(), b = box.getBoundingClientRect();
  return {
    left: a.left - b.left,
    right: a.right - b.left,
    top: a.top - b.top,
    bottom: a.bottom - b.top,
    x: (a.left + a.right) / 2 - b.left,
    y: (a.top + a.bottom) / 2 - b.top,
  };
}

/* Boxes are side by side, or on a narrow page one below the other. */
const isBelow = (a, b) => Math.abs(b.top - a.top) > Math.abs(b.left - a.left);

function makePath(box, boxes, { from, to, bow }) {
  const a = areaOf(boxes[from], box), b = areaOf(boxes[to], box);
  if (isBelow(a, b))
    return bow ? bowAtSide(a, b, bow, box.clientWidth) : goDown(a, b);
  return bow ? bowOver(a, b, bow, findRows(box, boxes)) : goRight(a, b);
}

function goRight(a, b) {
  const x = (a.right + b.left) / 2;
  return `M${a.right} ${a.y}C${x} ${a.y} ${x} ${b.y} ${b.left} ${b.y}`;
}

function goDown(a, b) {
  const y = (a.bottom + b.top) / 2;
  return `M${a.x} ${a.bottom}C${a.x} ${y} ${b.x} ${y} ${b.x} ${b.top}`;
}

/* The top and the bottom of all boxes. */
function findRows(box, boxes) {
  const areas = Object.values(boxes).map(element => areaOf(element, box));
  return {
    top: Math.min(...areas.map(area => area.top)),
    bottom: Math.max(...areas.map(area => area.bottom)),
  };
}

/* Bows over or under the boxes between. The middle of the curve, where its name is, is
 * three quarters of the way from y0 to y. */
function bowOver(a, b, bow, rows) {
  const y0 = bow > 0 ? a.bottom : a.top, y1 = bow > 0 ? b.bottom : b.top;
  const middle = bow > 0 ? Math.max(y0 + 46, rows.bottom + 18)
    : Math.min(y0 - 46, rows.top - 18);
  const y = y0 + (middle - y0) * 4 / 3;
  return `M${a.x} ${y0}C${a.x} ${y} ${b.x} ${y} ${b.x} ${y1}`;
}

/* Bows out to the edge of the page, where its name covers no box. */
function bowAtSide(a, b, bow, width) {
  const x0 = bow > 0 ? a.right : a.left,
    middle = bow > 0 ? width - 8 : 8,
    x = ((middle - x0 / 4) * 4) / 3;
  return `M${x0} ${a.y}C${x} ${a.y} ${x} ${b.y} ${x0} ${b.y}`;
}

function makeName(box, boxes, { d, name, from, to }) {
  const path = makeSvg('path', { d }), middle = path.getPointAtLength(path.getTotalLength() / 2);
  const upright = isBelow(areaOf(boxes[from], box), areaOf(boxes[to], box));
  const turn = upright ? ` rotate(-90)` : '';
  return makeSvg('text', { transform: `translate(${middle.x} ${middle.y})${turn}`, dy: 4 }, name);
}

/* Starts a dot on each line of the dataflow, since a batch was trained. */
export function sendDots() {
  const now = performance.now();
  if (document.hidden || now - sent < 1000 / MOST_DOTS) return;
  sent = now;
  for (const { d, kind, share } of edges) if (Math.random() < share) sendDot(d, kind);
}

function sendDot(d, kind) {
  const path = makeSvg('path', { d }), { x, y } = path.getPointAtLength(0);
  const transform = `translate(${x} ${y})`,
    dot = makeSvg('circle', { r: 3.2, class: `dot ${kind}`, transform });
  svg.insertBefore(dot, find('text', svg));    // names stay readable
  dots.push({ dot, path, length: path.getTotalLength(), begun: performance.now() });
  if (dots.length === 1) moveDots();
}

function moveDots() {
  const now = performance.now();
  for (const { dot, path, length, begun } of dots) {
    const share = Math.min(1, (now - begun) / TRAVEL_MS),
      { x, y } = path.getPointAtLength(length * share);
    dot.setAttribute('transform', `translate(${x} ${y})`);
    if (share === 1) dot.remove();
  }
  dots = dots.filter(({ dot }) => dot.isConnected);
  if (dots.length) setTimeout(moveDots, 1000 / MOVES);
}
