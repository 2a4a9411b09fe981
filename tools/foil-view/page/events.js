/* Puts the events of foil view into the model. */

import { showBatch } from './batch.js';
import { delay, load, run, notify } from './model.js';
import { isFile, listen, source } from './source.js';

/* Events that come while all data is loading; they are applied afterwards. */
let early = [];

const whenLoaded = apply => body =>
  early ? early.push(() => whenLoaded(apply)(body)) : apply(body);

/* Resolves when foil view is connected, or that has failed. */
export function connect() {
  return new Promise(resolve => {
    listen({
      metrics: whenLoaded(addMetrics),
      status: whenLoaded(addStatus),
      event: whenLoaded(addEvent),
      batch: whenLoaded(addBatch),
      map: whenLoaded(setMap),
      result: whenLoaded(addResult),
      samples: whenLoaded(addSamples),
      compared: whenLoaded(addCompared),
      reload: whenLoaded(reload),
      gap: whenLoaded(({ lost }) => countMissed(lost)),
      missed: whenLoaded(countMissed),
      connected: connected => { resolve(); whenLoaded(setConnected)(connected); },
    });
    if (isFile) resolve();
  });
}

export function applyEarly() {
  const waiting = early;
  early = null;
  for (const apply of waiting) apply();
}

/* foil view sends at most 4,000 points. When as many more have come one by one, the page
 * reloads them. */
const MOST_POINTS = 8000;

function addMetrics(step) {
  const { metrics } = run.all;
  run.all.living = true;    // a stopped run was resumed
  const fresh = addStep(metrics, step);
  notify(fresh ? 'columns' : 'metrics');
  if (metrics.total.length > MOST_POINTS) reload();
}

/* A step of another run. */
function addCompared({ run: number, step }) {
  notify(addStep(run.all.compared[number].metrics, step) ? 'columns' : 'metrics');
}

/* Appends a step; returns whether it has a new column. */
function addStep(metrics, { total, values }) {
  dropSteps(metrics, total);
  const fresh = Object.keys(values).filter(name => !metrics.columns[name]);
  for (const name of fresh)
    metrics.columns[name] = Array(metrics.total.length).fill(null);
  metrics.total.push(total);
  for (const [name, column] of Object.entries(metrics.columns))
    column.push(values[name] ?? null);
  return fresh.length > 0;
}

/* Drops steps that a resumed run repeats. */
function dropSteps({ total, columns }, first) {
  while (total.length && total.at(-1) >= first)
    for (const column of [total, ...Object.values(columns)]) column.pop();
}

function addStatus(status) {
  const stage = `${status.stage} ${status.number}`;
  run.all.status[stage] = status;
  run.lastSeen[stage] = Date.now() / 1000;
  notify('status');
}

/* An event during loading may be in the log already. */
function addEvent(event) {
  const { log } = run.all;
  if (log.some(({ time, what }) => time === event.time && what === event.what)) return;
  log.push(event);
  if (event.what === 'stop') run.all.living = false;
  notify('log');
}

/* A result during loading may be there already. */
function addResult(result) {
  const { results } = run.all, text = JSON.stringify(result);
  if (results.some(known => JSON.stringify(known) === text)) return;
  results.push(result);
  notify('results');
}

function addSamples(samples) {
  run.all.samples = samples;
  notify('samples');
}

function setMap(map) {
  run.all.map = map;
  notify('frame');
}

/* A hidden page loads no pictures. */
function addBatch(batch) {
  if (!run.held && !document.hidden) showBatch(batch);
}

async function setConnected(connected) {
  const returned = connected && run.lost && !run.connected;
  run.connected = connected;
  if (!connected) run.lost = true;
  if (returned) await reload();
  notify('state');
}

/* Loads all data again, since messages may be lost, or the run was resumed and steps
 * are no longer valid. */
async function reload() {
  if (early) return;    // it is being loaded
  early = [];
  const loaded = await load().then(() => true, () => false);
  applyEarly();
  if (loaded)
    for (const subject of ['columns', 'status', 'log', 'results', 'samples', 'frame'])
      notify(subject);
  else if (run.connected) reloadSoon();
}

/* Later, so that a slow page is not made slower. */
const reloadSoon = delay(3000, reload);

function countMissed(messages) {
  run.missed += messages;
  notify('state');
  reloadSoon();
}
