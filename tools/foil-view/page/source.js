/* Where everything on the page comes from: foil view, or window.FOIL, which an
 * exported file carries: {all, anchors, sprite, view, image}. */

const file = window.FOIL;

export const isFile = Boolean(file);

/* Nothing to show in the place of a picture that an exported file leaves out. */
export const BLANK = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA=';

async function fetchGood(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error((await answer.text()).trim() || `error ${answer.status}`);
  return answer;
}

const fetchJson = async address => (await fetchGood(address)).json();

/* Address of a picture with all views of a batch. Hundreds of tiles show it: as
 * a blob it is asked for once, whatever may be cached. */
async function readSprite({ epoch, step }) {
  const answer = await fetchGood(`sprite?epoch=${epoch}&step=${step}`);
  return URL.createObjectURL(await answer.blob());
}

const fromServer = {
  readAll: () => fetchJson('all'),
  readBatch: (epoch, step) => fetchJson(`batch?epoch=${epoch}&step=${step}`),
  readAnchor: (batch, row) => fetchJson(`anchor?epoch=${batch.epoch}&step=${batch.step}&row=${row}`),
  readSprite,
  viewOf: (id, epoch, view) => `view?v=${id}.${epoch}.${view}`,
  imageOf: id => `image/${id}`,
};

const fromFile = file && {
  readAll: async () => file.all,
  readBatch: async () => { throw new Error('an exported file has one batch only'); },
  readAnchor: async (batch, row) => {
    if (!file.anchors?.[row]) throw new Error('the exported file does not have this anchor');
    return file.anchors[row];
  },
  readSprite: async () => file.sprite || BLANK,
  viewOf: (id, epoch, view) => file.view?.[`${id}.${epoch}.${view}`] || file.image?.[id] || BLANK,
  imageOf: id => file.image?.[id] || BLANK,
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
  for (const kind of ['metrics', 'status', 'event', 'batch', 'frame', 'gap'])
    events.addEventListener(kind, message => {
      const id = Number(message.lastEventId);
      if (last && id > last + 1) reader.missed(id - last - 1);
      last = id;
      reader[kind](JSON.parse(message.data));
    });
}
