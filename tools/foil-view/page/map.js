/* The embedding as a film: where images lie after each epoch, near those that
 * the encoder finds alike. */

import { find, formOf, hueOf, make, colourOf, prefersStillness } from './dom.js';
import { pickImage } from './batch.js';
import { nameEpoch, nameOf, onChange, run, tell } from './model.js';
import { makeImage } from './picture.js';
import { isFile, source } from './source.js';

/* Of more points each is a few pixels, not a path. */
const MANY = 8000, MANY_CLASSES = 12, LINE = 17;

const section = find('#map'),
  canvas = find('canvas', section),
  pins = find('.pins', section),
  waits = find('.waits', section),
  tip = find('.tip', section),
  slider = find('input', section);
const FRAME = 700;      // milliseconds from one frame of the film to the next

/* What was read of a run: {all, epochs, points, frames}, replaced as a whole when
 * the run is read again; and what is on the canvas: {points, places, hues}, with xy
 * in its pixels. */
let film = null, shown = null, xy = new Float32Array(), at = 0, playing = false;

export function startMap() {
  slider.oninput = () => { stopFilm(); showFrame(Number(slider.value)); };
  find('button', section).onclick = () => playing ? stopFilm() : playFilm();
  canvas.onmousemove = event => showTip(findNearest(event));
  canvas.onmouseleave = () => tip.hidden = true;
  canvas.onclick = event => pickNearest(findNearest(event));
  onChange('frame', takeFrames);
  onChange('anchor theme', drawPoints);
  new ResizeObserver(drawPoints).observe(canvas);
  takeFrames();
}

/* ---- points and frames, which are asked for when they are to be seen ---- */

const listEpochs = () => film?.epochs ?? [];

/* A reader who looks at the newest frame sees the next one when it comes. */
async function takeFrames() {
  const { all } = run,
    { known, wanted, epochs } = all.map,
    newest = at >= Number(slider.max);
  section.hidden = !epochs.length && !(all.living && known && !isFile);
  waits.hidden = epochs.length > 0;
  waits.textContent = known < wanted ? `${known} of ${wanted} images were heard of; then a map is made.` : 'The first map is being made.';
  if (!epochs.length) return;
  if (film?.all !== all) await readPoints(all).catch(() => {});
  if (film?.all !== all) return;           // the next frame asks for them again
  film.epochs = all.map.epochs;
  delete film.frames[film.epochs.at(-1)];  // it may be one that was made again
  slider.max = film.epochs.length - 1;
  if (newest && !playing) showFrame(Number(slider.max));
}

/* The film of before serves until the points of this one are here. */
async function readPoints(all) {
  const points = splitPoints(await source.readPoints());
  if (all === run.all) film = { all, epochs: [], points, frames: {} };
}

/* Samples and classes; and the points of each class. */
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

/* Places of n points, and the images of which neighbours are told with these. */
const splitFrame = (bytes, n) => ({
  places: new Int16Array(bytes, 0, 2 * n),
  near: new Int32Array(bytes, 4 * n),
});

/* A frame of the film; null while it is on its way, and where there is none. */
function findFrame(number) {
  const { epochs, points, frames } = film, epoch = epochs[number];
  if (epoch != null && !(epoch in frames)) {
    frames[epoch] = null;
    source.readFrame(epoch).then(bytes => {
      if (bytes) frames[epoch] = splitFrame(bytes, points.ids.length);
      showFrame(at);
    }, () => {});
  }
  return frames[epoch] ?? null;
}

/* Between two frames the points are on their way. */
function showFrame(place) {
  if (!listEpochs().length) return;
  at = Math.max(0, Math.min(film.epochs.length - 1, place));
  slider.value = at;
  const first = findFrame(Math.floor(at)),
    second = findFrame(Math.ceil(at)),
    near = Math.round(at);
  if (!first || !second) return;
  mixFrames(first.places, second.places, at - Math.floor(at));
  find('output', section).textContent = nameEpoch(film.epochs[near]);
  drawPoints();
  if (playing) return;
  describeFrame(film.epochs[near]);
  tellNear(near);
}

/* The neighbours after an epoch, and for comparison after the first. */
function tellNear(number) {
  const now = findFrame(number),
    first = findFrame(0),
    {
      epochs,
      points: { labels, placeOf },
    } = film;
  if (!now || !first) return;
  const labelOf = id => labels[placeOf.get(id)] ?? -1;
  run.near = {
    epoch: epochs[number],
    from: epochs[0],
    images: now.near,
    before: first.near,
    labelOf,
  };
  tell('near');
}

function mixFrames(first, second, share) {
  const { points } = film, isKnown = shown?.points === points;
  const places = isKnown ? shown.places : new Float32Array(first.length);
  for (let k = 0; k < places.length; k++)
    places[k] = (first[k] + (second[k] - first[k]) * share) / 32000;
  shown = { points, places, hues: isKnown ? shown.hues : findHues(points) };
}

/* xy: where the points are on the canvas. */
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
  // while the film plays, the theme stays
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

/* Discs, and rings for the second five classes, pixel by pixel. */
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

/* Pixels around a point, a disc of which the inner share is left out, as so many
 * behind it. */
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

/* The names of a few classes, each in the middle of its points, or a few lines
 * above or below, so that none lies on another. */
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

/* The nearest place for a name so wide that touches neither another one nor the
 * edges; undefined where all is full. */
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

/* The anchor, and where its heaviest negatives are, with their pictures. */
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
  pinImages(i === undefined ? [] : [...list.map(({ id, label }) => ({ id, kind: isOwn(label) ? 'own' : '' })).reverse(), { id: run.anchor.id, kind: 'anchor' }]);
}

const isOwn = label => label >= 0 && label === run.anchor.label;

function listNegatives() {
  const { negatives = [], drawn } = run.anchor;
  return drawn?.negatives.length ? drawn.negatives : negatives;
}

/* The wider, the more weight; dashed to one of the anchor's own class. */
function drawLine(pen, i, { id, label, weight }, most) {
  const j = shown.points.placeOf.get(id);
  pen.strokeStyle = colourOf(isOwn(label) ? 'false' : 'near');
  pen.lineWidth = .6 + 2.4 * weight / most;
  pen.setLineDash(isOwn(label) ? [5, 3] : []);
  pen.beginPath();
  pen.moveTo(xy[2 * i], xy[2 * i + 1]);
  pen.lineTo(xy[2 * j], xy[2 * j + 1]);
  pen.stroke();
  pen.setLineDash([]);
}

/* Pictures at their points, the last one on top. */
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

/* ---- looking closer ---- */

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

/* An image of the batch becomes the anchor. */
function pickNearest(i) {
  if (i >= 0) pickImage(shown.points.ids[i]);
}

/* The same as words; how many lie nearest to one of their class beside the slider, too. */
function describeFrame(epoch) {
  const { ids, classes } = shown.points;
  const alike = classes.has(-1) ? '' : `${countAlike()} % lie nearest to one of their own class`;
  canvas.ariaLabel = [`Map of ${ids.length} images ${nameEpoch(epoch)}`, alike].filter(Boolean).join(', ');
  find('output', section).textContent = [nameEpoch(epoch), alike].filter(Boolean).join(' · ');
}

/* How many points lie nearest to one of their class; of some hundred points, as
 * each looks at all. */
function countAlike() {
  const {
      points: { labels },
      places,
    } = shown,
    n = labels.length,
    step = Math.ceil(n / 300);
  let alike = 0, looked = 0;
  for (let i = 0; i < n; i += step, looked++) {
    let best = -1, least = Infinity;
    for (let j = 0; j < n; j++) {
      const far =
        (places[2 * i] - places[2 * j]) ** 2 +
        (places[2 * i + 1] - places[2 * j + 1]) ** 2;
      if (j !== i && far < least) [best, least] = [j, far];
    }
    if (labels[i] === labels[best]) alike++;
  }
  return Math.round(100 * alike / looked);
}

/* ---- film ---- */

function playFilm() {
  if (listEpochs().length < 2) return;
  playing = true;
  find('button', section).ariaPressed = true;
  let before = performance.now(), place = at >= listEpochs().length - 1 ? 0 : at;
  const step = now => {
    const last = listEpochs().length - 1;
    if (!playing) return;
    place = Math.min(place, last);    // epochs may be done again
    // it waits for frames that are on their way
    if (findFrame(Math.floor(place)) && findFrame(Math.ceil(place)))
      place = Math.min(last, place + Math.max(0, now - before) / FRAME);
    before = now;
    showFrame(prefersStillness() ? Math.floor(place) : place);
    if (place >= last) stopFilm(); else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function stopFilm() {
  if (!playing) return;
  playing = false;
  find('button', section).ariaPressed = false;
  showFrame(at);
}

export const changeFilm = () => playing ? stopFilm() : playFilm();
