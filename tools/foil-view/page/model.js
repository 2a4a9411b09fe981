/* What the page knows of the run, and who wants to hear of changes: panels
 * read `run` and draw themselves again when they are told. */

import { isFile, source } from './source.js';

export const run = {
  all: null,          // as in the answer to `all`
  batch: null,        // the batch on the page
  anchor: null,       // the anchor on the page, with its negatives
  near: null,         // neighbours after the epoch that the map shows
  row: null,          // its row: view * images + place; null: the page chooses
  held: false,        // the batch stays, whatever comes
  connected: isFile,
  lost: false,        // the connection was lost at least once
  missed: 0,          // messages that this page did not get
  heard: {},          // of a stage, when it was heard last, by the page's clock
};

/* Subjects: metrics, columns (there is a new one, or all are new), status, log,
 * batch, anchor, frame (of the map), near, samples, results, state (held, connected,
 * lost, missed), theme (for canvases, which do not know view.css). */
const listeners = {};

export function onChange(subjects, listener) {
  for (const subject of subjects.split(' ')) (listeners[subject] ||= []).push(listener);
}

export function tell(subject) {
  for (const listener of listeners[subject] || []) listener();
}

/* Events may come by the hundred a second: calls a function once after a while
 * of so many milliseconds, however often it is asked to. */
export function delay(milliseconds, work) {
  let due = null;
  return () => due ??= setTimeout(() => { due = null; work(); }, milliseconds);
}

export async function load() {
  run.all = await source.readAll();
  for (const [stage, status] of Object.entries(run.all.status))
    run.heard[stage] = Date.now() / 1000 - (status.heard ?? 0);
}

/* ---- words and numbers that several panels need ---- */

export const nameOf = (label, id) =>
  run.all.classes[label] ?? (label >= 0 ? `class ${label}` : `image ${id}`);

/* When a frame of the film was made: the first may have come before its epoch's end. */
export const nameEpoch = epoch =>
  `${epoch === run.all.map.within ? 'within' : 'after'} epoch ${epoch}`;

/* Steps a second by the trainer's own clock, over the latest 25 steps; 0 when
 * the last one is long ago. */
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

/* The event that ended the run; null while it trains. */
export const lastStop = () =>
  run.all.living ? null : run.all.log.findLast(line => line.what === 'stop');
