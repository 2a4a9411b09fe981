/* The header: name, state, progress and speed of the run; and the footer. */

import { find, formatNumber, formatShare, formatSpan, formatWhole } from './dom.js';
import { delay, lastStop, onChange, run, stepRate } from './model.js';
import { isFile } from './source.js';

export function startHead() {
  onChange('metrics columns status log state', delay(100, drawHead));
  setInterval(drawHead, 1000);
  document.title = `${run.all.run} · foil view`;
  find('#run').textContent = run.all.run;
  find('#run').title = run.all.folder;
  find('#save').hidden = isFile;
  find('#save').download = `${run.all.run}.html`;
  drawHead();
}

function drawHead() {
  drawState();
  drawProgress();
  drawMissed();
  find('#rates').textContent = describeRates().join(' · ');
  find('#hold').textContent = run.held ? 'batch held' : 'hold batch';
  find('#hold').ariaPressed = run.held;
  find('#hold').hidden = isFile || !run.all.living;
}

function drawState() {
  const [kind, words] = describeState();
  const pill = find('#state');
  pill.className = `pill ${kind}`;
  if (pill.textContent !== words) pill.textContent = words;
}

function describeState() {
  const { all, lastSeen } = run;
  if (isFile) return ['', 'saved page'];
  if (!run.connected)
    return run.lost ? ['warn', 'foil view does not answer'] : ['', 'connecting'];
  const stop = lastStop();
  if (stop) return ['', stop.reason === 'done' ? 'finished' : 'stopped'];
  if (!all.living) return ['', 'not training'];
  const waits = all.status['train 1']?.values.waits ?? 0;
  const silent = Date.now() / 1000 - (lastSeen['train 1'] ?? Infinity);
  if (silent > 10) return ['warn', `trainer silent for ${formatSpan(silent)}`];
  if (waits > 1) return ['warn', `waiting for a batch, ${formatSpan(waits)}`];
  return ['on', 'training'];
}

function drawProgress() {
  const done = run.all.metrics.total.at(-1) ?? 0, steps = run.all.steps;
  const bar = find('#progress');
  bar.hidden = !steps;
  bar.ariaValueMax = steps;
  bar.ariaValueNow = done;
  find('i', bar).style.width = `${steps ? 100 * done / steps : 0}%`;
}

function describeRates() {
  const { all } = run,
    done = all.metrics.total.at(-1) ?? 0,
    rate = all.living ? stepRate() : 0;
  const epoch = all.metrics.columns.epoch?.at(-1),
    epochs = all.status['train 1']?.values.epochs;
  const images = run.batch?.ids.length;
  return [
    epoch != null && `epoch ${formatWhole(epoch + 1)}${epochs ? ` of ${formatWhole(epochs)}` : ''}`,
    `step ${formatWhole(done)}${all.steps ? ` of ${formatWhole(all.steps)}` : ''}`,
    rate && `${formatNumber(rate, 2)} steps/s`,
    rate && images && `${formatWhole(Math.round(rate * images))} images/s`,
    rate && describeWaiting(),
    rate && all.steps > done && `${formatSpan((all.steps - done) / rate)} left`,
  ].filter(Boolean);
}

/* The trainer's share of time waiting for batches, over 200 steps. */
function describeWaiting() {
  const { waited, seconds } = run.all.metrics.columns;
  if (!waited || !seconds) return null;
  const sum = column => column.slice(-200).reduce((a, b) => a + (b ?? 0), 0);
  const idle = sum(waited), busy = sum(seconds);
  return idle + busy > 0 && `${formatShare(idle / (idle + busy))} of time waiting for batches`;
}

function drawMissed() {
  const { all, missed } = run;
  const lost = isFile ? 'Saved page'
    : `Messages missed by this page: ${formatNumber(missed)}${missed ? ' (training is not affected)' : ''}`;
  const words = `${all.folder} · ${formatWhole(all.size)} images · ${lost} · Views are regenerated from seed, image and epoch.`;
  const foot = find('#missed');
  if (foot.textContent !== words) foot.textContent = words;
}
