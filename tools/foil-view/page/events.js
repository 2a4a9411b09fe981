/* What foil view tells while the run goes on, put into the model. */

import { showBatch } from './batch.js';
import { delay, load, run, tell } from './model.js';
import { isFile, listen, source } from './source.js';

/* What comes while all is read waits for it, so that nothing is lost between. */
let early = [];

const afterAll = take => body =>
  early ? early.push(() => afterAll(take)(body)) : take(body);

/* Resolves when foil view has answered, well or not. */
export function connect() {
  return new Promise(resolve => {
    listen({
      metrics: afterAll(addMetrics),
      status: afterAll(addStatus),
      event: afterAll(addEvent),
      batch: afterAll(addBatch),
      map: afterAll(setMap),
      result: afterAll(addResult),
      samples: afterAll(addSamples),
      beside: afterAll(addBeside),
      again: afterAll(readAgain),
      gap: afterAll(({ lost }) => countMissed(lost)),
      missed: afterAll(countMissed),
      connected: connected => { resolve(); afterAll(setConnected)(connected); },
    });
    if (isFile) resolve();
  });
}

export function takeEarly() {
  const waiting = early;
  early = null;
  for (const take of waiting) take();
}

/* Foil view thins what it sends to 4,000 steps. When as many more have come
 * one by one, the page asks for the thinned ones again. */
const MOST_POINTS = 8000;

function addMetrics(step) {
  const { metrics } = run.all;
  run.all.living = true;    // a run that had stopped goes on
  const fresh = addStep(metrics, step);
  tell(fresh ? 'columns' : 'metrics');
  if (metrics.total.length > MOST_POINTS) readAgain();
}

/* Of another run. */
function addBeside({ run: number, step }) {
  tell(addStep(run.all.beside[number].metrics, step) ? 'columns' : 'metrics');
}

/* Puts a step behind the others; returns whether it has a number of a new name. */
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

/* A run that goes on from a checkpoint does steps again. */
function dropSteps({ total, columns }, first) {
  while (total.length && total.at(-1) >= first)
    for (const column of [total, ...Object.values(columns)]) column.pop();
}

function addStatus(status) {
  const stage = `${status.stage} ${status.number}`;
  run.all.status[stage] = status;
  run.heard[stage] = Date.now() / 1000;
  tell('status');
}

/* An early one may be in the log already. */
function addEvent(event) {
  const { log } = run.all;
  if (log.some(({ time, what }) => time === event.time && what === event.what)) return;
  log.push(event);
  if (event.what === 'stop') run.all.living = false;
  tell('log');
}

/* An early one may be among the results already. */
function addResult(result) {
  const { results } = run.all, text = JSON.stringify(result);
  if (results.some(known => JSON.stringify(known) === text)) return;
  results.push(result);
  tell('results');
}

function addSamples(samples) {
  run.all.samples = samples;
  tell('samples');
}

function setMap(map) {
  run.all.map = map;
  tell('frame');
}

/* A page that nobody sees asks for no pictures. */
function addBatch(batch) {
  if (!run.held && !document.hidden) showBatch(batch);
}

async function setConnected(connected) {
  const returned = connected && run.lost && !run.connected;
  run.connected = connected;
  if (!connected) run.lost = true;
  if (returned) await readAgain();
  tell('state');
}

/* A page that missed messages, or whose connection was lost, may have missed
 * anything; of a run that was resumed some steps are not true any more. */
async function readAgain() {
  if (early) return;    // all is being read
  early = [];
  const fine = await load().then(() => true, () => false);
  takeEarly();
  if (fine)
    for (const subject of ['columns', 'status', 'log', 'results', 'samples', 'frame'])
      tell(subject);
  else if (run.connected) readSoon();
}

/* A page that is too slow for its run is not made slower. */
const readSoon = delay(3000, readAgain);

function countMissed(messages) {
  run.missed += messages;
  tell('state');
  readSoon();
}
