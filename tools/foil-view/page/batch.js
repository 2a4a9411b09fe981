/* Loads the batch and the anchor that the page shows. */

import { describeAnchor, describeBatch } from './contrast.js';
import { findTau, run, notify } from './model.js';
import { BLANK, source } from './source.js';

export const placeOf = row => row % run.batch.ids.length;
export const viewOf = row => Math.floor(row / run.batch.ids.length);

/* The batch to show next, and the batch that is being loaded. */
let wanted = null, loading = null;

/* Shows a batch once it is loaded, so that nothing flickers. Of the batches that come
 * in the meantime, only the newest is shown. */
export async function showBatch(batch) {
  wanted = batch;
  while (wanted && !loading) {
    const mine = (loading = wanted);
    wanted = null;
    const [sprite, embeddings] =
      await Promise.all([loadSprite(mine), loadEmbeddings(mine)]);
    // the previous batch was held
    if (loading !== mine) return URL.revokeObjectURL(sprite);
    loading = null;
    setBatch({ ...mine, ...embeddings, sprite, known: Boolean(embeddings) });
  }
}

/* Without pictures, a batch is shown with blank tiles. */
async function loadSprite(batch) {
  const image = new Image();
  const sprite = image.src = await source.readSprite(batch).catch(() => BLANK);
  await image.decode().catch(() => {});
  return sprite;
}

/* null: foil view does not have them yet, and makes them if no trainer does. */
const loadEmbeddings = batch => source.readEmbeddings(batch).catch(() => null);

/* Why a batch has no embeddings. */
export const describeLack = ({ reason }) => reason
  ? `No similarities and weights: ${reason}. While a run trains, its trainer publishes them.`
  : run.all.living ? 'Similarities and weights come with the next batch of the trainer.'
    : 'Similarities and weights are being computed by the newest checkpoint.';

/* Pictures of earlier batches, which the anchor panel shows until it has an anchor of
 * the present batch. */
let outdated = [];

function dropOutdated() {
  for (const sprite of outdated) URL.revokeObjectURL(sprite);
  outdated = [];
}

function setBatch(batch) {
  if (run.batch) outdated.push(run.batch.sprite);
  run.batch = batch.known ? describeBatch(batch) : batch;
  run.anchor = null;
  notify('batch');
  showAnchor(chooseRow(run.batch));
}

/* The row of the last pick, or else an image of the hardest pair. */
function chooseRow(batch) {
  const rows = batch.ids.length * batch.views;
  return run.row != null && run.row < rows ? run.row : batch.pairs?.[0]?.[0] ?? 0;
}

/* Makes a row the anchor and holds the batch. */
export function pickAnchor(row) {
  run.row = row;
  if (run.held || !run.all.living) showAnchor(row);
  else setHeld(true);
}

/* Makes an image the anchor if it is in the batch. */
export function pickImage(id) {
  const place = run.batch?.ids.indexOf(id) ?? -1;
  if (place >= 0) pickAnchor(place);
}

let requests = 0;

async function showAnchor(row) {
  const { batch, held } = run, mine = ++requests;
  const anchor = batch.known
    ? describeAnchor(batch, row, 1 / findTau(), await readAnchor(batch, row, held))
    : makeBareAnchor(batch, row);
  if (mine !== requests) return;
  run.anchor = anchor;
  notify('anchor');
  dropOutdated();
}

/* The negatives that a sampler drew. While a batch is held, foil view pins it, for links
 * to it. */
const readAnchor = async (batch, row, held) =>
  await source.readAnchor(batch, row, held).catch(() => null) ??
    { drawn: null, trail: [] };

/* An anchor without negatives. */
function makeBareAnchor(batch, row) {
  const place = row % batch.ids.length, view = Math.floor(row / batch.ids.length);
  return {
    row,
    id: batch.ids[place],
    label: batch.labels[place],
    view,
    epoch: batch.epoch,
    step: batch.step,
    reason: describeLack(batch),
  };
}

/* Holds the batch of a living run, or shows the newest one again. */
export async function setHeld(held) {
  if (run.held === held || (held && !run.all.living)) return;
  run.held = held;
  if (held) wanted = loading = null;    // drop the batch that is being loaded
  notify('state');
  if (held) return run.batch && showAnchor(chooseRow(run.batch));
  const all = await source.readAll().catch(() => null);
  if (all?.batch && !run.held) showBatch(all.batch);
}
