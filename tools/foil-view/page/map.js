/* The map of embeddings after each epoch, as an animation. */

import { find, formOf, hueOf, make, colourOf, prefersStillness } from './dom.js';
import { pickImage } from './batch.js';
import { nameEpoch, nameOf, onChange, run, notify } from './model.js';
import { makeImage } from './picture.js';
import { isFile, source } from './source.js';

/* More points than MANY are drawn as pixels, not as paths. */
const MANY = 8000, MANY_CLASSES = 12, LINE = 17;

const section = find('#map'),
  canvas = find('canvas', section),
  pins = find('.pins', section),
  pending = find('.pending', section),
  tip = find('.tip', section),
  slider = find('input', section);
const FRAME_MS = 700;

/* The loaded frames, {all, epochs, points, frames}, which are replaced when all data is
 * reloaded; and what is on the canvas, {points, places, hues}, with xy in its pixels. */
let animation = null, shown = null, xy = new Float32Array(), at = 0, playing = false;

export function startMap() {
  slider.oninput = () => { stop(); showFrame(Number(slider.value)); };
  find('button', section).onclick = () => playing ? stop() : play();
  canvas.onmousemove = event => showTip(findNearest(event));
  canvas.onmouseleave = () => tip.hidden = true;
  canvas.onclick = event => pickNearest(findNearest(event));
  onChange('frame batch', takeFrames);
  onChange('anchor theme', drawPoints);
  new ResizeObserver(drawPoints).observe(canvas);
  takeFrames();
}

/* ---- points and frames, which are loaded when they are needed ---- */

const listEpochs = () => animation?.epochs ?? [];

/* Shows a new frame if the newest one was on the page. */
async function takeFrames() {
  const { all } = run,
    { known, wanted, epochs } = all.map,
    newest = at >= Number(slider.max);
  section.hidden = !epochs.length && !isComing(all);
  pending.hidden = epochs.length > 0;
  pending.textContent = known < wanted ? `Collecting embeddings for the first map: ${known} of ${wanted} images` : 'Computing the first map';
  find('button', section).hidden = slider.hidden = epochs.length < 2;
  if (!epochs.length) return;
  if (animation?.all !== all) await readPoints(all).catch(() => {});
  if (animation?.all !== all) return;           // the next frame tries again
  animation.epochs = all.map.epochs;
  delete animation.frames[animation.epochs.at(-1)];  // it may have been replaced
  slider.max = animation.epochs.length - 1;
  if (newest && !playing) showFrame(Number(slider.max));
}

/* A map comes from the embeddings of a living run, or of its newest checkpoint. */
const isComing = ({ living, map, size, options }) => !isFile && (living ? map.known > 0
  : size >= 32 && Object.keys(options).length > 0 && !run.batch?.reason);

/* The old animation stays until the new points are loaded. */
async function readPoints(all) {
  const points = splitPoints(await source.readPoints());
  if (all === run.all) animation = { all, epochs: [], points, frames: {} };
}

/* Returns the samples, their classes, and the points of each class. */
function splitPoints(bytes) {
  const both = new Int32Array(bytes),
    n = both.length / 2,
    ids = both.subarray(0, n),
    labels = both.subarray(n),
    classes = new Map();
  labels.forEach((label, i) =>
    classes.has(label) ? classes.get(label).push(i) : classes.set(label, [i]),
  );
  return { ids, labels, classes, placeOf: new Map(Array.from(ids, (id, i) => [id, i])) };
}

/* Returns the places of n points, and some images with their neighbours. */
const splitFrame = (bytes, n) => ({
  places: new Int16Array(bytes, 0, 2 * n),
  near: new Int32Array(bytes, 4 * n),
});

/* Returns a frame; null if there is none, or while it is being loaded. */
function findFrame(number) {
  const { epochs, points, frames } = animation, epoch = epochs[number];
  if (epoch != null && !(epoch in frames)) {
    frames[epoch] = null;
    source.readFrame(epoch).then(bytes => {
      if (bytes) frames[epoch] = splitFrame(bytes, points.ids.length);
      showFrame(at);
    }, () => {});
  }
  return frames[epoch] ?? null;
}

/* A place between two frames shows a mix of both. */
function showFrame(place) {
  if (!listEpochs().length) return;
  at = Math.max(0, Math.min(animation.epochs.length - 1, place));
  slider.value = at;
  const first = findFrame(Math.floor(at)),
    second = findFrame(Math.ceil(at)),
    near = Math.round(at);
  if (!first || !second) return;
  mixFrames(first.places, second.places, at - Math.floor(at));
  find('output', section).textContent = nameEpoch(animation.epochs[near]);
  drawPoints();
  if (playing) return;
  describeFrame(animation.epochs[near]);
  updateNear(near);
}

/* Publishes the neighbours of a frame and, for comparison, of the first frame. */
function updateNear(number) {
  const now = findFrame(number),
    first = findFrame(0),
    {
      epochs,
      points: { labels, placeOf },
    } = animation;
  if (!now || !first) return;
  const labelOf = id => labels[placeOf.get(id)] ?? -1;
  run.near = {
    epoch: epochs[number],
    from: epochs[0],
    images: now.near,
    before: first.near,
    labelOf,
  };
  notify('near');
}

function mixFrames(first, second, share) {
  const { points } = animation, isKnown = shown?.points === points;
  const places = isKnown ? shown.places : new Float32Array(first.length);
  for (let k = 0; k < places.length; k++)
    places[k] = (first[k] + (second[k] - first[k]) * share) / 32000;
  shown = { points, places, hues: isKnown ? shown.hues : findHues(points) };
}

/* Sets xy, the places of the points on the canvas. */
function placePoints() {
  const side = (Math.min(canvas.clientWidth, canvas.clientHeight) / 2) * 0.96,
    x = canvas.clientWidth / 2,
    y = canvas.clientHeight / 2;
  const { places } = shown;
  if (xy.length !== places.length) xy = new Float32Array(places.length);
  for (let k = 0; k < places.length; k += 2) {
    xy[k] = x + places[k] * side;
    xy[k + 1] = y - places[k + 1] * side;
  }
}

/* ---- drawing ---- */

function drawPoints() {
  if (!shown || !canvas.clientWidth) return;
  const scale = devicePixelRatio || 1,
    width = Math.round(canvas.clientWidth * scale),
    height = Math.round(canvas.clientHeight * scale);
  if (canvas.width !== width || canvas.height !== height)
    Object.assign(canvas, { width, height });
  const pen = canvas.getContext('2d');
  placePoints();
  // not while it plays: that is slow
  if (!playing) shown.hues = findHues(shown.points);
  pen.resetTransform();
  pen.clearRect(0, 0, width, height);
  const many = shown.points.ids.length > MANY;
  if (many) stampPoints(pen, scale);
  pen.scale(scale, scale);
  if (!many) tracePoints(pen);
  nameClasses(pen);
  markAnchor(pen);
}

const findHues = ({ classes }) =>
  new Map([...classes.keys()].map(label => [label, colourOf(hueOf(label).slice(6, -1))]));

function tracePoints(pen) {
  const { points, hues } = shown;
  const radius = Math.max(1.6, Math.min(4, 90 / Math.sqrt(points.ids.length)));
  for (const [label, own] of points.classes) {
    pen.fillStyle = pen.strokeStyle = hues.get(label);
    pen.lineWidth = radius / 1.6;
    pen.beginPath();
    for (const i of own) addPoint(pen, i, radius);
    if (formOf(label) === 'striped') pen.stroke(); else pen.fill();
  }
}

function addPoint(pen, i, radius) {
  pen.moveTo(xy[2 * i] + radius, xy[2 * i + 1]);
  pen.arc(xy[2 * i], xy[2 * i + 1], radius, 0, 2 * Math.PI);
}

/* Draws discs, or rings for the second five classes, pixel by pixel. */
function stampPoints(pen, scale) {
  const { points, hues } = shown;
  const { width, height } = canvas,
    image = pen.createImageData(width, height),
    pixels = new Uint32Array(image.data.buffer);
  for (const [label, own] of points.classes) {
    const colour = packColour(hues.get(label)),
      stamp = listStamp(1.5 * scale, formOf(label) === 'striped' ? 0.5 : 0, width);
    for (const i of own) {
      const x = Math.round(xy[2 * i] * scale), y = Math.round(xy[2 * i + 1] * scale);
      if (x < 8 || y < 8 || x >= width - 8 || y >= height - 8) continue;
      for (let k = 0; k < stamp.length; k++) pixels[y * width + x + stamp[k]] = colour;
    }
  }
  pen.putImageData(image, 0, 0);
}

/* Returns the pixels of a disc, or of a ring if `inner` > 0, as offsets from its centre.
 */
function listStamp(radius, inner, width) {
  const most = Math.min(7, Math.floor(radius)), stamp = [];
  for (let dy = -most; dy <= most; dy++)
    for (let dx = -most; dx <= most; dx++) {
      const far = Math.hypot(dx, dy) / radius;
      if (far <= 1 && (!inner || far >= inner)) stamp.push(dy * width + dx);
    }
  return Int32Array.from(stamp);
}

function packColour(text) {
  const bytes = Uint8ClampedArray.of(
    ...text
      .match(/[\d.]+/g)
      .slice(0, 3)
      .map(Number),
    255,
  );
  return new Uint32Array(bytes.buffer)[0];
}

/* Writes the names of up to MANY_CLASSES classes in the middle of their points, or some
 * lines above or below where they would overlap. */
function nameClasses(pen) {
  const { points, hues } = shown;
  if (playing || points.classes.size > MANY_CLASSES) return;
  Object.assign(pen, {
    font: '600 12px system-ui, sans-serif',
    textAlign: 'center',
    textBaseline: 'middle',
    lineWidth: 4,
    lineJoin: 'round',
    strokeStyle: colourOf('faint'),
  });
  const taken = [];
  for (const [label, own] of points.classes) {
    if (label < 0) continue;
    const mean = k =>
      own.reduce((sum, i) => sum + xy[2 * i + k], 0) / own.length;
    const { width } = pen.measureText(nameOf(label));
    const place = findSpace(mean(0), mean(1), width, taken);
    if (!place) continue;
    taken.push(place);
    pen.fillStyle = hues.get(label);
    pen.strokeText(nameOf(label), place.x, place.y);
    pen.fillText(nameOf(label), place.x, place.y);
  }
}

/* Returns the nearest place for a name of this width that touches neither another name
 * nor an edge; undefined if there is none. */
function findSpace(x, y, width, taken) {
  const half = width / 2 + 4;
  const inside = (at, rim, size) => Math.max(rim, Math.min(size - rim, at));
  const touches = place => taken.some(other =>
    Math.abs(other.x - place.x) < other.half + place.half &&
    Math.abs(other.y - place.y) < LINE);
  return [0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6]
    .map(lines => ({ half, x: inside(x, half, canvas.clientWidth),
      y: inside(y + lines * LINE, LINE / 2, canvas.clientHeight) }))
    .find(place => !touches(place));
}

/* Draws the anchor and its heaviest negatives, with pictures. */
function markAnchor(pen) {
  const { placeOf } = shown.points,
    i = run.anchor ? placeOf.get(run.anchor.id) : undefined;
  const list =
    i === undefined
      ? []
      : listNegatives()
          .filter(({ id }) => placeOf.has(id) && id !== run.anchor.id)
          .slice(0, 6);
  for (const negative of list) drawLine(pen, i, negative, list[0].weight);
  pinImages(i === undefined ? [] : [...list.map(({ id, label }) => ({ id, kind: isSameClass(label) ? 'own' : '' })).reverse(), { id: run.anchor.id, kind: 'anchor' }]);
}

const isSameClass = label => label >= 0 && label === run.anchor.label;

function listNegatives() {
  const { negatives = [], drawn } = run.anchor;
  return drawn?.negatives.length ? drawn.negatives : negatives;
}

/* The width of a line is the weight; it is dashed for a negative of the same class. */
function drawLine(pen, i, { id, label, weight }, most) {
  const j = shown.points.placeOf.get(id);
  pen.strokeStyle = colourOf(isSameClass(label) ? 'false' : 'near');
  pen.lineWidth = .6 + 2.4 * weight / most;
  pen.setLineDash(isSameClass(label) ? [5, 3] : []);
  pen.beginPath();
  pen.moveTo(xy[2 * i], xy[2 * i + 1]);
  pen.lineTo(xy[2 * j], xy[2 * j + 1]);
  pen.stroke();
  pen.setLineDash([]);
}

/* Puts pictures on their points, the last one on top. */
function pinImages(list) {
  const { placeOf } = shown.points, key = list.map(({ id, kind }) => id + kind).join();
  if (pins.dataset.key !== key)
    pins.replaceChildren(
      ...list.map(({ id, kind }) => make('span', { className: kind }, makeImage(id))),
    );
  pins.dataset.key = key;
  list.forEach(({ id }, k) => {
    const i = placeOf.get(id);
    pins.children[k].style.translate = `calc(${xy[2 * i]}px - 50%) calc(${xy[2 * i + 1]}px - 50%)`;
  });
}

/* ---- mouse ---- */

function findNearest({ offsetX, offsetY }) {
  let best = -1, least = 14 ** 2;
  for (let k = 0; k < xy.length; k += 2) {
    const far = (xy[k] - offsetX) ** 2 + (xy[k + 1] - offsetY) ** 2;
    if (far < least) [best, least] = [k / 2, far];
  }
  return best;
}

function showTip(i) {
  tip.hidden = i < 0;
  if (i < 0) return;
  const { ids, labels } = shown.points;
  if (tip.dataset.id !== String(ids[i]))
    tip.replaceChildren(
      makeImage(ids[i]),
      make('span', {}, nameOf(labels[i], ids[i]), make('br'), `image ${ids[i]}`),
    );
  tip.dataset.id = ids[i];
  tip.style.left = `${xy[2 * i]}px`;
  tip.style.top = `${xy[2 * i + 1]}px`;
}

/* Makes an image of the batch the anchor. */
function pickNearest(i) {
  if (i >= 0) pickImage(shown.points.ids[i]);
}

/* Describes the frame for screen readers. */
function describeFrame(epoch) {
  canvas.ariaLabel = `Map of ${shown.points.ids.length} images ${nameEpoch(epoch)}`;
}

/* ---- playing ---- */

function play() {
  if (listEpochs().length < 2) return;
  playing = true;
  find('button', section).ariaPressed = true;
  let before = performance.now(), place = at >= listEpochs().length - 1 ? 0 : at;
  const step = now => {
    const last = listEpochs().length - 1;
    if (!playing) return;
    place = Math.min(place, last);    // a resumed run repeats epochs
    // wait for frames that are being loaded
    if (findFrame(Math.floor(place)) && findFrame(Math.ceil(place)))
      place = Math.min(last, place + Math.max(0, now - before) / FRAME_MS);
    before = now;
    showFrame(prefersStillness() ? Math.floor(place) : place);
    if (place >= last) stop(); else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function stop() {
  if (!playing) return;
  playing = false;
  find('button', section).ariaPressed = false;
  showFrame(at);
}

export const togglePlay = () => playing ? stop() : play();
