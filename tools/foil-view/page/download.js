/* Buttons that download the numbers of a panel. */

import { find, make } from './dom.js';
import { run } from './model.js';

/* Adds a button CSV to the title of a section, and a button JSON if there is `readWhole`.
 * `readRows` returns rows of cells, the names of the columns first. */
export function addDownloads(section, readRows, readWhole) {
  const name = () => `${run.all.run}-${section.id}`;
  const title = find('h2', section);
  const buttons = make('span', { className: 'downloads' });
  addButton(buttons, 'CSV', () =>
    saveFile(`${name()}.csv`, 'text/csv', formatCsv(readRows())),
  );
  if (readWhole)
    addButton(buttons, 'JSON', () =>
      saveFile(`${name()}.json`, 'application/json', JSON.stringify(readWhole())),
    );
  title.append(buttons);
}

function addButton(box, kind, onclick) {
  box.append(
    make('button', { onclick, title: `Download these numbers as ${kind}` }, kind),
  );
}

function formatCell(value) {
  const text = String(value ?? '');
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

const formatCsv = rows => rows.map(row => row.map(formatCell).join(',') + '\n').join('');

function saveFile(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  make('a', { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
