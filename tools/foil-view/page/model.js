/* The state of the page, and its listeners: a panel reads `run` and registers a function
 * that redraws it, by onChange(). */

import { isFile, source } from './source.js';

export const run = {
  all: null,          // the answer to `all`
  batch: null,        // the batch on the page
  anchor: null,       // the anchor on the page, with its negatives
  row: null,          // row of the picked anchor, view * images + place; or null
  near: null,         // neighbours in the frame that the map shows
  held: false,        // the batch on the page is not replaced
  connected: isFile,
  lost: false,        // the connection was lost at least once
  missed: 0,          // messages that this page did not receive
  lastSeen: {},       // when the last status of each stage came, by the page's clock
};

/* Subjects: metrics, columns (a new one, or all data was reloaded), status, log, batch,
 * anchor, frame (of the map), near, samples, results, state (held, connected, lost,
 * missed), theme (for canvases, which cannot use view.css). */
const listeners = {};

export function onChange(subjects, listener) {
  for (const subject of subjects.split(' ')) (listeners[subject] ||= []).push(listener);
}

export function notify(subject) {
  for (const listener of listeners[subject] || []) listener();
}

/* Returns a function that calls `work` once within some milliseconds, however often it is
 * called, since hundreds of events may come in a second. */
export function delay(milliseconds, work) {
  let due = null;
  return () => due ??= setTimeout(() => { due = null; work(); }, milliseconds);
}

export async function load() {
  run.all = await source.readAll();
  for (const [stage, status] of Object.entries(run.all.status))
    run.lastSeen[stage] = Date.now() / 1000 - (status.age ?? 0);
}

/* ---- names and numbers for several panels ---- */

export const nameOf = (label, id) =>
  run.all.classes[label] ?? (label >= 0 ? `class ${label}` : `image ${id}`);

/* The time of a frame: the first one may have been made before its epoch's end. */
export const nameEpoch = epoch =>
  `${epoch === run.all.map.within ? 'during' : 'after'} epoch ${epoch}`;

/* The temperature of the weights: the latest one, which may be learnt. */
export const findTau = () => run.all.metrics.columns.tau?.findLast(tau => tau > 0) ??
  (run.all.options.tau || .5);

/* Steps per second by the trainer's clock, over the latest 25 steps; 0 if the last step
 * is long ago. */
export function stepRate() {
  const { total, columns: { time } } = run.all.metrics;
  if (!time || time.length < 3) return 0;
  const last = time.length - 1,
    first = Math.max(0, last - 25),
    spent = time[last] - time[first];
  const silent = Date.now() / 1000 - time[last];
  return spent > 0 && silent < Math.max(15, (4 * spent) / (last - first))
    ? (total[last] - total[first]) / spent
    : 0;
}

/* How the run ended, {time, reason}; null while a trainer runs. */
export function lastStop() {
  const { living, stop, steps, metrics: { total, columns } } = run.all;
  if (living || stop) return living ? null : stop;
  const reason = steps && total.at(-1) >= steps ? 'done' : 'no trainer runs';
  return total.length ? { time: columns.time?.at(-1), reason } : null;
}
