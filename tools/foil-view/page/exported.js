/* Starts the page of an exported file, whose JSON has all files of the page: each name
 * of one becomes an address with the file in it. Modules import one another by an import
 * map, since an address of "data:" has no neighbours. */
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
