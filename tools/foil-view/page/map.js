/* The embedding as a film: where a few thousand images lie after each epoch,
 * near those that the encoder finds alike. */

import { find, findAll, formOf, hueOf, make, colourOf, prefersStillness } from './dom.js';
import { pickAnchor } from './batch.js';
import { nameOf, onChange, run } from './model.js';
import { makeImage } from './picture.js';

const section = find('#map'), canvas = find('canvas', section), tip = find('.tip', section), slider = find('input', section);
const FRAME = 700;      // milliseconds from one frame of the film to the next
let frames = [], at = 0, playing = false;

export function startMap() {
  slider.oninput = () => { stopFilm(); showFrame(Number(slider.value)); };
  find('button', section).onclick = () => playing ? stopFilm() : playFilm();
  canvas.onmousemove = event => showTip(findNearest(event));
  canvas.onmouseleave = () => tip.hidden = true;
  canvas.onclick = event => pickNearest(findNearest(event));
  onChange('frame', takeFrames);
  onChange('anchor', drawPoints);
  new ResizeObserver(drawPoints).observe(canvas);
  takeFrames();
}

/* A reader who looks at the newest frame sees the next one when it comes. */
function takeFrames() {
  const { map } = run.all, newest = at >= frames.length - 1;
  section.hidden = !map;
  if (!map) return;
  frames = map.frames.map(frame => frame.places ??= readPlaces(frame.xy));
  slider.max = frames.length - 1;
  if (newest && !playing) showFrame(frames.length - 1);
}

const readPlaces = text => new Int16Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);

/* Between two frames the points are on their way. */
function showFrame(place) {
  at = Math.max(0, Math.min(frames.length - 1, place));
  slider.value = at;
  const { epoch } = run.all.map.frames[Math.round(at)];
  find('output', section).textContent = `after epoch ${epoch}`;
  canvas.ariaLabel = `Map of ${run.all.map.ids.length} images after epoch ${epoch}, ${countAlike()} % of them nearest to one of their own class`;
  drawPoints();
}

function placeOf(i) {
  const first = frames[Math.floor(at)], second = frames[Math.ceil(at)], share = at - Math.floor(at);
  const side = Math.min(canvas.clientWidth, canvas.clientHeight) / 2 * .96;
  const mix = k => (first[k] * (1 - share) + second[k] * share) / 32000 * side;
  return [canvas.clientWidth / 2 + mix(2 * i), canvas.clientHeight / 2 - mix(2 * i + 1)];
}

function drawPoints() {
  if (!frames.length || !canvas.clientWidth) return;
  const scale = devicePixelRatio || 1, { ids, labels } = run.all.map;
  canvas.width = canvas.clientWidth * scale;
  canvas.height = canvas.clientHeight * scale;
  const pen = canvas.getContext('2d');
  pen.scale(scale, scale);
  const radius = Math.max(1.6, Math.min(4, 90 / Math.sqrt(ids.length)));
  for (const label of [...new Set(labels)]) {
    pen.fillStyle = pen.strokeStyle = colourOf(hueOf(label).slice(6, -1));
    pen.lineWidth = radius / 1.6;
    pen.beginPath();
    labels.forEach((own, i) => own === label && addPoint(pen, placeOf(i), radius));
    if (formOf(label) === 'striped') pen.stroke(); else pen.fill();
  }
  markAnchor(pen);
}

function addPoint(pen, [x, y], radius) {
  pen.moveTo(x + radius, y);
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

function markAnchor(pen) {
  const i = run.anchor ? run.all.map.ids.indexOf(run.anchor.id) : -1;
  if (i < 0) return;
  pen.strokeStyle = colourOf('ink');
  pen.lineWidth = 2;
  pen.beginPath();
  addPoint(pen, placeOf(i), 8);
  pen.stroke();
}

/* ---- looking closer ---- */

function findNearest({ offsetX, offsetY }) {
  let best = -1, least = 14 ** 2;
  for (let i = 0; frames.length && i < run.all.map.ids.length; i++) {
    const [x, y] = placeOf(i), far = (x - offsetX) ** 2 + (y - offsetY) ** 2;
    if (far < least) [best, least] = [i, far];
  }
  return best;
}

function showTip(i) {
  tip.hidden = i < 0;
  if (i < 0) return;
  const [x, y] = placeOf(i), { ids, labels } = run.all.map;
  if (tip.dataset.id !== String(ids[i]))
    tip.replaceChildren(makeImage(ids[i]), make('span', {}, nameOf(labels[i], ids[i]), make('br'), `image ${ids[i]}`));
  tip.dataset.id = ids[i];
  tip.style.left = `${x}px`;
  tip.style.top = `${y}px`;
}

/* An image of the batch becomes the anchor. */
function pickNearest(i) {
  const place = i < 0 || !run.batch ? -1 : run.batch.ids.indexOf(run.all.map.ids[i]);
  if (place >= 0) pickAnchor(place);
}

/* The same as a number: how many points lie nearest to one of their class; of
 * some hundred points, as each looks at all. */
function countAlike() {
  const { labels } = run.all.map, xy = frames[Math.round(at)], n = labels.length, step = Math.ceil(n / 300);
  let alike = 0, looked = 0;
  for (let i = 0; i < n; i += step, looked++) {
    let best = -1, least = Infinity;
    for (let j = 0; j < n; j++) {
      const far = (xy[2 * i] - xy[2 * j]) ** 2 + (xy[2 * i + 1] - xy[2 * j + 1]) ** 2;
      if (j !== i && far < least) [best, least] = [j, far];
    }
    alike += labels[i] >= 0 && labels[i] === labels[best];
  }
  return Math.round(100 * alike / looked);
}

/* ---- film ---- */

function playFilm() {
  if (frames.length < 2) return;
  playing = true;
  find('button', section).ariaPressed = true;
  const from = at >= frames.length - 1 ? 0 : at, start = performance.now();
  const step = now => {
    if (!playing) return;
    const place = from + (now - start) / FRAME;
    showFrame(prefersStillness() ? Math.floor(place) : place);
    if (at >= frames.length - 1) stopFilm(); else requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

function stopFilm() {
  playing = false;
  find('button', section).ariaPressed = false;
}

export const changeFilm = () => playing ? stopFilm() : playFilm();
