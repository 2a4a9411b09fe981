/* The page of foil view: starts the panels, handles keys, and writes the held batch and
 * anchor into the page's address. */

import { nextView, startAnchor } from './anchor.js';
import { setHeld, showBatch } from './batch.js';
import { countAcross, moveAnchor, startBoard } from './board.js';
import { startCurves } from './curves.js';
import { find, findAll, make } from './dom.js';
import { connect, applyEarly } from './events.js';
import { startFlow } from './flow.js';
import { startGood } from './good.js';
import { startHead } from './head.js';
import { startLog } from './log.js';
import { togglePlay, startMap } from './map.js';
import { startMatrix } from './matrix.js';
import { load, onChange, run, notify } from './model.js';
import { startNear } from './near.js';
import { startSamples } from './samples.js';
import { isFile, source } from './source.js';

/* ---- theme: view.css has both colours, by light-dark() ---- */

function isDark() {
  const chosen = document.documentElement.style.colorScheme;
  return chosen ? chosen === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function setTheme(theme) {
  document.documentElement.style.colorScheme = theme;
}

function changeTheme() {
  setTheme(isDark() ? 'light' : 'dark');
  notify('theme');
}

/* ---- keys ---- */

const KEYS = {
  ' ': () => setHeld(!run.held),
  j: () => moveAnchor(1),
  k: () => moveAnchor(-1),
  ArrowRight: () => moveAnchor(1),
  ArrowLeft: () => moveAnchor(-1),
  ArrowDown: () => moveAnchor(countAcross()),
  ArrowUp: () => moveAnchor(-countAcross()),
  v: nextView,
  p: togglePlay,
  t: changeTheme,
};

/* Arrows scroll the page and space presses a button, unless the focus is on
 * the board. */
function handleKey(event) {
  const { key, target } = event, onTile = target.matches('.tile');
  if (event.ctrlKey || event.metaKey || event.altKey || !KEYS[key]) return;
  if (target.matches('input, select, textarea')) return;
  if (key.startsWith('Arrow') && !onTile) return;
  if (key === ' ' && target.matches('button, summary') && !onTile) return;
  event.preventDefault();
  KEYS[key]();
}

/* ---- links: #epoch=3&step=17&anchor=12; all from 0, the anchor is a row ---- */

function writeLink() {
  const { all, batch, anchor, held } = run, isFixed = held || !all.living;
  const hash = isFixed && !isFile && batch && anchor ? `#epoch=${batch.epoch}&step=${batch.step}&anchor=${anchor.row}` : '';
  if (hash !== location.hash)
    history.replaceState(null, '', hash || location.pathname + location.search);
}

function findBatch(epoch, step) {
  const last = run.all.batch;
  if (last?.epoch === epoch && last.step === step) return last;
  return source.readBatch(epoch, step).catch(() => null);
}

async function followLink() {
  const link = new URLSearchParams(location.hash.slice(1));
  if (!link.has('epoch') || !link.has('step')) return false;
  const batch = await findBatch(Number(link.get('epoch')), Number(link.get('step')));
  if (!batch) return false;
  if (link.has('anchor')) run.row = Number(link.get('anchor'));
  setHeld(true);
  await showBatch(batch);
  return true;
}

/* ---- contents: a link to each card ---- */

const contents = find('#contents');

function drawContents() {
  const links = findAll('main section').filter(section => section.checkVisibility())
    .map(({ id }) => [id, find(`#${id}-title`).firstChild.textContent.trim()]);
  if (contents.dataset.key === String(links)) return;
  contents.dataset.key = String(links);
  const follow = id => event => {
    event.preventDefault();
    find(`#${id}`).scrollIntoView();
  };
  contents.replaceChildren(...links.map(([id, words]) =>
    make('a', { href: `#${id}`, onclick: follow(id) }, words)));
}

/* ---- start ---- */

/* The board comes before the matrix: it orders the batch. */
const PANELS = [
  startHead,
  startGood,
  startFlow,
  startBoard,
  startAnchor,
  startMatrix,
  startNear,
  startMap,
  startSamples,
  startCurves,
  startLog,
];

async function start() {
  const theme = new URLSearchParams(location.search).get('theme');
  if (theme) setTheme(theme);
  await connect();
  await load();
  for (const startPanel of PANELS) startPanel();
  find('#hold').onclick = () => setHeld(!run.held);
  find('#theme').onclick = changeTheme;
  matchMedia('(prefers-color-scheme: dark)').onchange = () => notify('theme');
  addEventListener('keydown', handleKey);
  addEventListener('hashchange', followLink);
  onChange('anchor state', writeLink);
  if (!await followLink() && run.all.batch) showBatch(run.all.batch);
  applyEarly();
  drawContents();
  new MutationObserver(drawContents)
    .observe(find('main'), { attributeFilter: ['hidden'], subtree: true });
}

start().catch(error => {
  find('#state').textContent = `foil view does not answer: ${error.message}`;
  find('#state').className = 'pill warn';
  throw error;
});
