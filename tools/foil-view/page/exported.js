/* Starts the page of an exported file. Its JSON contains all files of the page: each name
 * is replaced by a data URL of the file. Modules import one another by an import map,
 * since a data URL has no relative addresses. */
{
  const file = JSON.parse(document.querySelector('#file').textContent), { files } = file;
  const types = { css: 'text/css', js: 'text/javascript', svg: 'image/svg+xml' };
  const addressOf = name =>
    `data:${types[name.split('.')[1]]};charset=utf-8,` +
    encodeURIComponent(files[name].replaceAll("from './", "from '"));
  const modules = Object.keys(files).filter(name => name.endsWith('.js'));
  const imports = Object.fromEntries(modules.map(name => [name, addressOf(name)]));
  const page = files['index.html'].replace(/(href|src)="([a-z]+\.[a-z]+)"/g,
    (_, attribute, name) => `${attribute}="${addressOf(name)}"`);
  const map = `<script type="importmap">${JSON.stringify({ imports })}<\/script>`;
  Object.assign(window, { FOIL: file });
  document.write(map + page);
}
