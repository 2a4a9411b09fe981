/* Which batch and which anchor are on the page. */

import { describeAnchor, describeBatch } from './contrast.js';
import { run, tell } from './model.js';
import { BLANK, source } from './source.js';

export const placeOf = row => row % run.batch.ids.length;
export const viewOf = row => Math.floor(row / run.batch.ids.length);

/* The batch to be shown next, and that of which the pictures and embeddings are on
 * their way. */
let wanted = null, loading = null;

/* Shows a batch when all of it is here, so that nothing flickers; of those
 * that come meanwhile, only the newest is shown. */
export async function showBatch(batch) {
  wanted = batch;
  while (wanted && !loading) {
    const mine = (loading = wanted);
    wanted = null;
    const [sprite, embeddings] =
      await Promise.all([loadSprite(mine), loadEmbeddings(mine)]);
    // the one before it was held
    if (loading !== mine) return URL.revokeObjectURL(sprite);
    loading = null;
    takeBatch({ ...mine, ...embeddings, sprite, known: Boolean(embeddings) });
  }
}

/* A batch whose pictures cannot be had is shown without them. */
async function loadSprite(batch) {
  const image = new Image();
  const sprite = image.src = await source.readSprite(batch).catch(() => BLANK);
  await image.decode().catch(() => {});
  return sprite;
}

/* null: foil view does not have them, or not any more. */
const loadEmbeddings = async batch =>
  batch.known ? source.readEmbeddings(batch).catch(() => null) : null;

/* Pictures of batches that were shown: the page has them until an anchor of the
 * present one is on it, too. */
let outdated = [];

function dropOutdated() {
  for (const sprite of outdated) URL.revokeObjectURL(sprite);
  outdated = [];
}

function takeBatch(batch) {
  if (run.batch) outdated.push(run.batch.sprite);
  run.batch = batch.known ? describeBatch(batch) : batch;
  run.anchor = null;
  tell('batch');
  showAnchor(chooseRow(run.batch));
}

/* Before the reader has picked an anchor, it is one half of the hardest pair. */
function chooseRow(batch) {
  const rows = batch.ids.length * batch.views;
  return run.row != null && run.row < rows ? run.row : batch.pairs?.[0]?.[0] ?? 0;
}

/* A reader who picks an anchor wants to look at it: the batch stays. */
export function pickAnchor(row) {
  run.row = row;
  if (run.held || !run.all.living) showAnchor(row);
  else setHeld(true);
}

/* An image becomes the anchor, where it is in the batch. */
export function pickImage(id) {
  const place = run.batch?.ids.indexOf(id) ?? -1;
  if (place >= 0) pickAnchor(place);
}

let asked = 0;

async function showAnchor(row) {
  const { batch, held } = run, mine = ++asked;
  const anchor = batch.known
    ? describeAnchor(batch, row, batch.beta, await readAnchor(batch, row, held))
    : makeBareAnchor(batch, row);
  if (mine !== asked) return;
  run.anchor = anchor;
  tell('anchor');
  dropOutdated();
}

/* What a sampler drew, where foil view knows it. While a batch is held, foil view keeps
 * it, for links to it. */
const readAnchor = async (batch, row, held) =>
  await source.readAnchor(batch, row, held).catch(() => null) ??
    { drawn: null, trail: [] };

/* An anchor without negatives, and why it has none. */
function makeBareAnchor(batch, row) {
  const place = row % batch.ids.length, view = Math.floor(row / batch.ids.length);
  const reason = run.all.living ? 'it was trained some time ago' : 'the run is not training now';
  return {
    row,
    id: batch.ids[place],
    label: batch.labels[place],
    view,
    epoch: batch.epoch,
    step: batch.step,
    reason: `Its negatives and their weights are not known: ${reason}, and a run does not store its embeddings.`,
  };
}

/* Only what moves can be held. Let go, the page shows the newest batch. */
export async function setHeld(held) {
  if (run.held === held || (held && !run.all.living)) return;
  run.held = held;
  if (held) wanted = loading = null;    // what is under way comes too late
  tell('state');
  if (held) return run.batch && showAnchor(chooseRow(run.batch));
  const all = await source.readAll().catch(() => null);
  if (all?.batch && !run.held) showBatch(all.batch);
}
