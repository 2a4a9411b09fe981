/* The data source of the page: foil view, or in an exported file window.FOIL, which is
 * {all, embeddings, anchors, sprite, images: {ids, columns, sprite},
 * map: {points, frames: {epoch}}, files}. */

const file = /** @type {any} */ (window).FOIL;

export const isFile = Boolean(file);

/* A blank picture for those that an exported file does not have. */
export const BLANK = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';

async function fetchGood(address) {
  const answer = await fetch(address);
  if (!answer.ok)
    throw new Error((await answer.text()).trim() || `error ${answer.status}`);
  return answer;
}

const fetchJson = async address => (await fetchGood(address)).json();

/* null: foil view no longer has it. */
async function fetchOrNull(address, read) {
  const answer = await fetchGood(address);
  return answer.status === 204 ? null : read(answer);
}

/* Returns the URL of a picture with all views of a batch. It is a blob, so that it is
 * requested once for hundreds of tiles, also without a cache. */
async function readSprite({ epoch, step }) {
  const answer = await fetchGood(`sprite?epoch=${epoch}&step=${step}`);
  return URL.createObjectURL(await answer.blob());
}

const fetchBytes = async address => (await fetchGood(address)).arrayBuffer();

const readBase64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer;

const readVectors = ({ z }) => ({ z: new Float32Array(readBase64(z)) });

const nameView = ({ id, epoch, view }) => `${id}.${epoch}.${view}`;

/* A picture is a tile of a sprite, {sprite, columns, number}, counted from the left, row
 * by row. */
const fromServer = {
  readAll: () => fetchJson('all'),
  readBatch: (epoch, step) => fetchJson(`batch?epoch=${epoch}&step=${step}`),
  readEmbeddings: ({ epoch, step }) =>
    fetchOrNull(`embeddings?epoch=${epoch}&step=${step}`,
      async answer => readVectors(await answer.json())),
  readAnchor: ({ epoch, step }, row, pin) =>
    fetchOrNull(
      `anchor?epoch=${epoch}&step=${step}&row=${row}&pin=${Number(pin)}`,
      answer => answer.json(),
    ),
  readSprite,
  readPoints: () => fetchBytes('map'),
  readFrame: epoch => fetchOrNull(`frame?epoch=${epoch}`, answer => answer.arrayBuffer()),
  viewsOf: views =>
    views.map((_, number) => ({
      sprite: `view?v=${views.map(nameView)}`,
      columns: Math.min(16, views.length),
      number,
    })),
  imageOf: id => ({ sprite: `view?v=${id}`, columns: 1, number: 0 }),
};

/* The stored image; also used for views that are not in the batch. */
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
  readEmbeddings: async () => file.embeddings && readVectors(file.embeddings),
  readAnchor: async (batch, row) => file.anchors[row] ?? null,
  readSprite: async () => file.sprite || BLANK,
  readPoints: async () => readBase64(file.map.points),
  readFrame: async epoch => readBase64(file.map.frames[epoch]),
  viewsOf: views => views.map(({ id }) => findImage(id)),
  imageOf: id => findImage(id),
};

export const source = fromFile || fromServer;

/* Calls reader[kind](body) for each event, reader.missed(n) if n ids are missing, and
 * reader.connected(true or false). An exported file has no events. */
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
    'embedded',
    'map',
    'result',
    'samples',
    'reload',
    'gap',
  ])
    events.addEventListener(kind, message => {
      const id = Number(message.lastEventId);
      if (last && id > last + 1) reader.missed(id - last - 1);
      last = id;
      reader[kind](JSON.parse(message.data));
    });
}
