/* What the page knows of the run, and who wants to hear of changes. Events go
 * in here; panels read `run` and redraw themselves when they are told. */

import { isFile, listen, source } from './source.js';

export const run = {
  all: null,          // as in the answer to `all`
  batch: null,        // the batch on the page
  anchor: null,       // the anchor on the page, with its negatives
  row: null,          // its row: view * images + place; null: the page chooses
  held: false,        // the batch stays, whatever comes
  connected: isFile,
  missed: 0,          // messages that this page did not get
  heard: {},          // of a stage, when it was heard last, by the page's clock
};

/* Subjects: metrics, columns (there is a new one), status, log, batch, anchor,
 * state (held, connected, missed). */
const listeners = {};

export function onChange(subjects, listener) {
  for (const subject of subjects.split(' ')) (listeners[subject] ||= []).push(listener);
}

export function tell(subject) {
  for (const listener of listeners[subject] || []) listener();
}

export async function load() {
  takeAll(await source.readAll());
}

function takeAll(all) {
  run.all = all;
  for (const [stage, status] of Object.entries(all.status))
    run.heard[stage] = Date.now() / 1000 - (status.heard ?? 0);
}

/* Foil view thins what it sends to 4,000 steps. When twice as many have come
 * one by one, the page asks for the thinned ones again. */
const MOST_POINTS = 8000;

function addMetrics({ total, values }) {
  const { metrics } = run.all;
  const last = metrics.total.at(-1);
  if (last != null && total <= last) return;
  const known = Object.keys(metrics.columns).length;
  metrics.total.push(total);
  const rows = metrics.total.length;
  for (const name of Object.keys(values)) metrics.columns[name] ||= Array(rows - 1).fill(null);
  for (const [name, column] of Object.entries(metrics.columns)) column.push(values[name] ?? null);
  if (rows > MOST_POINTS) reloadMetrics();
  tell(Object.keys(metrics.columns).length > known ? 'columns' : 'metrics');
}

async function reloadMetrics() {
  const all = await source.readAll().catch(() => null);
  if (all) run.all.metrics = all.metrics;
}

function addStatus(status) {
  const stage = `${status.stage} ${status.number}`;
  run.all.status[stage] = status;
  run.heard[stage] = Date.now() / 1000;
  tell('status');
}

function addEvent(event) {
  run.all.log.push({ time: Date.now() / 1000, ...event });
  if (event.what === 'stop') run.all.living = false;
  tell('log');
}

/* After a lost connection the page may have missed anything: it starts over. */
async function setConnected(connected) {
  const returned = connected && !run.connected && run.lost;
  run.lost ||= !connected;
  run.connected = connected;
  if (returned) {
    run.lost = false;
    await load().catch(() => {});
    for (const subject of ['columns', 'status', 'log']) tell(subject);
    if (run.all.batch && !run.held) showBatch(run.all.batch);
  }
  tell('state');
}

function countMissed(n) {
  run.missed += n;
  tell('state');
}

export function follow() {
  listen({
    metrics: addMetrics,
    status: addStatus,
    event: addEvent,
    batch: batch => { if (!run.held) showBatch(batch); },
    gap: ({ lost }) => countMissed(lost),
    missed: countMissed,
    connected: setConnected,
  });
}

/* ---- batch and anchor ---- */

let loading = null;

/* Shows a batch when its pictures are here, so that nothing flickers; of
 * batches that come meanwhile, only the newest is shown. */
export async function showBatch(batch) {
  const alone = !loading;
  loading = batch;
  if (!alone) return;
  while (loading !== run.batch) {
    const next = loading;
    await loadPicture(source.spriteOf(next));
    readBatch(next);
  }
  loading = null;
}

function loadPicture(address) {
  const image = new Image();
  image.src = address;
  return image.decode().catch(() => {});
}

function readBatch(batch) {
  if (batch.known) batch.cosines = readCosines(batch.similarities);
  run.batch = batch;
  run.anchor = null;
  tell('batch');
  pickAnchor(chooseRow(batch), false);
}

const readCosines = text => Float32Array.from(atob(text), c => c.charCodeAt(0) / 127.5 - 1);

/* Before the reader has picked an anchor, it is one half of the hardest pair. */
function chooseRow(batch) {
  const rows = batch.ids.length * batch.views;
  return run.row != null && run.row < rows ? run.row : batch.pairs?.[0]?.[0] ?? 0;
}

export const placeOf = row => row % run.batch.ids.length;
export const viewOf = row => Math.floor(row / run.batch.ids.length);

/* The anchor without negatives: for a run whose embeddings are not known. */
function bareAnchor(batch, row, reason) {
  const place = placeOf(row);
  return { row, id: batch.ids[place], label: batch.labels[place], view: viewOf(row), epoch: batch.epoch, step: batch.step, negatives: null, reason };
}

/* A reader who picks an anchor wants to look at it: the batch stays. */
export async function pickAnchor(row, byReader = true) {
  const { batch } = run;
  if (byReader) {
    run.row = row;
    setHeld(true);
  }
  let anchor = bareAnchor(batch, row, 'Its embedding is not known: the run is over, and embeddings are not stored.');
  if (batch.known)
    anchor = await source.readAnchor(batch, row).catch(error => bareAnchor(batch, row, `Its negatives cannot be shown: ${error.message}.`));
  if (run.batch !== batch) return;
  run.anchor = anchor;
  tell('anchor');
}

export async function setHeld(held) {
  if (!run.all.living || run.held === held) return;
  run.held = held;
  tell('state');
  if (held) return;
  const all = await source.readAll().catch(() => null);
  if (all?.batch && !run.held) showBatch(all.batch);
}

/* ---- words that several panels need ---- */

export const nameOf = (label, id) => run.all.classes[label] ?? (label >= 0 ? `class ${label}` : `image ${id}`);

/* Steps a second by the trainer's own clock, over the latest 25 steps. */
export function stepRate() {
  const times = run.all.metrics.columns.time, totals = run.all.metrics.total;
  if (!times || times.length < 3) return 0;
  const last = times.length - 1, first = Math.max(0, last - 25);
  const spent = times[last] - times[first];
  const old = Date.now() / 1000 - times[last] > Math.max(15, 4 * spent / (last - first));
  return spent > 0 && (!old || isFile) ? (totals[last] - totals[first]) / spent : 0;
}

export const lastStop = () => run.all.living ? null : run.all.log.findLast(line => line.what === 'stop');
