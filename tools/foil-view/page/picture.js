/* Pictures of images and of their views. */

import { hueOf, formOf, make } from './dom.js';
import { nameOf, run } from './model.js';
import { source } from './source.js';

/* A view of an image of the batch, cut from the batch's sprite; or its text. */
export const makeTile = (batch, place, view) =>
  isText(batch, view) ? makeText(batch, place) : makePicture(tileOf(batch, place, view));

/* With two towers view 1 is a text. */
export const isText = (batch, view) => Boolean(batch.texts) && view === 1;

export const makeText = (batch, place) => make('q', { title: batch.texts[place] }, batch.texts[place] || 'no caption');

export const cutTile = (picture, batch, place, view) =>
  cutPicture(picture, tileOf(batch, place, view));

const tileOf = ({ sprite, ids, pictures }, place, view) => ({
  sprite,
  columns: Math.min(32, ids.length * pictures),
  number: place * pictures + view,
});

/* A view of any image, from the batch's sprite if it is in it. */
export function makeView(id, epoch, view) {
  const { batch } = run, place = batch.ids.indexOf(id);
  if (place >= 0 && epoch === batch.epoch) return makeTile(batch, place, view);
  return makeViews([{ id, epoch, view }])[0];
}

/* At most 64 views, by one request. */
export const makeViews = views => source.viewsOf(views).map(makePicture);

export const makeImage = id => makePicture(source.imageOf(id));

function makePicture(tile) {
  const picture = make('i', { className: 'picture' });
  cutPicture(picture, tile);
  return picture;
}

function cutPicture({ style }, { sprite, columns, number }) {
  style.backgroundImage = `url("${sprite}")`;
  style.backgroundSize = `calc(${columns} * var(--side)) auto`;
  style.backgroundPosition =
    `calc(${-(number % columns)} * var(--side)) calc(${-Math.floor(number / columns)} * var(--side))`;
}

/* The name of a class with its mark: a disc, or a ring for the second five classes. */
export function makeName(label, id) {
  if (label < 0) return make('span', {}, nameOf(label, id));
  return make(
    'span',
    { className: 'name' },
    make('i', { className: `dot ${formOf(label)}`, style: `--hue: ${hueOf(label)}` }),
    nameOf(label, id),
  );
}
