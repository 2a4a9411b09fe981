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
      embedded: whenLoaded(addEmbedded),
      map: whenLoaded(setMap),
      result: whenLoaded(addResult),
      samples: whenLoaded(addSamples),
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

/* Steps of our run, number -1, or of another one. */
function addMetrics({ run: number, steps }) {
  const { metrics } = number < 0 ? run.all : run.all.compared[number];
  const fresh = steps.filter(step => addStep(metrics, step));
  notify(fresh.length ? 'columns' : 'metrics');
  if (metrics.total.length > MOST_POINTS) reload();
}

/* Appends a step; returns whether it has a new column. */
function addStep(metrics, { total, values }) {
  dropSteps(metrics, total);
  delete values.total;
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
  if (status.stage === 'train')    // a stopped run was resumed
    Object.assign(run.all, { living: true, stop: null });
  notify('status');
}

function addEvent({ what, time, path, reason }) {
  const { checkpoints } = run.all, step = Number(path.split('-').pop());
  if (what === 'stop') Object.assign(run.all, { living: false, stop: { time, reason } });
  if (what === 'checkpoint' && !checkpoints.some(one => one.step === step))
    checkpoints.push({ step, time });
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

/* The embeddings of a batch without them were made, or cannot be. */
function addEmbedded(batch) {
  const { epoch, step, known } = run.batch ?? {};
  if (epoch === batch.epoch && step === batch.step && !known) showBatch(batch);
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
