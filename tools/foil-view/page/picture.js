/* Pictures of images and of their views. */

import { hueOf, formOf, make } from './dom.js';
import { nameOf, run } from './model.js';
import { source } from './source.js';

/* A view of an image of the batch, cut out of the batch's sprite. */
export function makeTile(batch, place, view) {
  const tile = make('i', { className: 'picture' });
  cutTile(tile, batch, place, view);
  return tile;
}

export function cutTile(tile, batch, place, view) {
  const number = place * batch.views + view;
  tile.style.backgroundImage = `url("${batch.sprite}")`;
  tile.style.backgroundSize = `calc(${batch.columns} * var(--side)) auto`;
  tile.style.backgroundPosition =
    `calc(${-(number % batch.columns)} * var(--side)) calc(${-Math.floor(number / batch.columns)} * var(--side))`;
}

/* A view by its image: from the batch's sprite where the image is in it. */
export function makeView(id, epoch, view) {
  const { batch } = run, place = batch.ids.indexOf(id);
  if (place >= 0 && epoch === batch.epoch) return makeTile(batch, place, view);
  return makeWhole(source.viewOf(id, epoch, view));
}

export const makeImage = id => makeWhole(source.imageOf(id));

function makeWhole(address) {
  const picture = make('i', { className: 'picture whole' });
  picture.style.backgroundImage = `url("${address}")`;
  return picture;
}

/* The mark of a class: a disc of its hue, striped in the second five. */
export function makeName(label, id) {
  if (label < 0) return make('span', {}, nameOf(label, id));
  return make('span', { className: 'name' },
    make('i', { className: `dot ${formOf(label)}`, style: `--hue: ${hueOf(label)}` }), nameOf(label, id));
}
