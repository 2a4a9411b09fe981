/* Where everything on the page comes from: foil view, or window.FOIL, which an
 * exported file carries: {all, embeddings, anchors, sprite, images: {ids, columns,
 * sprite}, map: {points, frames: {epoch}}, files}. */

const file = /** @type {any} */ (window).FOIL;

export const isFile = Boolean(file);

/* Nothing to show in the place of a picture that an exported file leaves out. */
export const BLANK = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';

async function fetchGood(address) {
  const answer = await fetch(address);
  if (!answer.ok)
    throw new Error((await answer.text()).trim() || `error ${answer.status}`);
  return answer;
}

const fetchJson = async address => (await fetchGood(address)).json();

/* null: foil view does not have it any more. */
async function fetchKept(address, read) {
  const answer = await fetchGood(address);
  return answer.status === 204 ? null : read(answer);
}

/* Address of a picture with all views of a batch. Hundreds of tiles show it: as
 * a blob it is asked for once, whatever may be cached. */
async function readSprite({ epoch, step }) {
  const answer = await fetchGood(`sprite?epoch=${epoch}&step=${step}`);
  return URL.createObjectURL(await answer.blob());
}

const fetchBytes = async address => (await fetchGood(address)).arrayBuffer();

const readBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;

/* The inverse temperature, and embeddings. */
const readVectors = ({ beta, z }) => ({ beta, z: new Float32Array(readBase64(z)) });

const nameView = ({ id, epoch, view }) => `${id}.${epoch}.${view}`;

/* Pictures are tiles of sprites: {sprite, columns, number}, the number counted
 * from the left, row by row. */
const fromServer = {
  readAll: () => fetchJson('all'),
  readBatch: (epoch, step) => fetchJson(`batch?epoch=${epoch}&step=${step}`),
  readEmbeddings: ({ epoch, step }) =>
    fetchKept(`embeddings?epoch=${epoch}&step=${step}`,
      async answer => readVectors(await answer.json())),
  readAnchor: ({ epoch, step }, row, pin) =>
    fetchKept(
      `anchor?epoch=${epoch}&step=${step}&row=${row}&pin=${Number(pin)}`,
      answer => answer.json(),
    ),
  readSprite,
  readPoints: () => fetchBytes('map'),
  readFrame: epoch => fetchKept(`frame?epoch=${epoch}`, answer => answer.arrayBuffer()),
  viewsOf: views =>
    views.map((_, number) => ({
      sprite: `view?v=${views.map(nameView)}`,
      columns: Math.min(16, views.length),
      number,
    })),
  imageOf: id => ({ sprite: `image/${id}`, columns: 1, number: 0 }),
};

/* An image as it is stored; also in the place of a view that is not in the batch. */
function findImage(id) {
  const { ids = [], columns = 1, sprite = '' } = file.images ?? {},
    number = ids.indexOf(id);
  return number < 0 || !sprite
    ? { sprite: BLANK, columns: 1, number: 0 }
    : { sprite, columns: Math.min(columns, ids.length), number };
}

const fromFile = file && {
  readAll: async () => file.all,
  readBatch: async () => { throw new Error('an exported file has one batch only'); },
  readEmbeddings: async () => readVectors(file.embeddings),
  readAnchor: async (batch, row) => file.anchors[row],
  readSprite: async () => file.sprite || BLANK,
  readPoints: async () => readBase64(file.map.points),
  readFrame: async epoch => readBase64(file.map.frames[epoch]),
  viewsOf: views => views.map(({ id }) => findImage(id)),
  imageOf: id => findImage(id),
};

export const source = fromFile || fromServer;

/* Calls reader[kind](body) for each event, reader.missed(n) where the ids have
 * a gap, and reader.connected(yes or no). An exported file has no events. */
export function listen(reader) {
  if (isFile) return;
  const events = new EventSource('events');
  let last = 0;
  events.onopen = () => reader.connected(true);
  events.onerror = () => { last = 0; reader.connected(false); };
  for (const kind of [
    'metrics',
    'status',
    'event',
    'batch',
    'map',
    'result',
    'samples',
    'beside',
    'again',
    'gap',
  ])
    events.addEventListener(kind, message => {
      const id = Number(message.lastEventId);
      if (last && id > last + 1) reader.missed(id - last - 1);
      last = id;
      reader[kind](JSON.parse(message.data));
    });
}
