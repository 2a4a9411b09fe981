/* Which numbers of a step share a plot. */

/* In the order of the page. A name that no row has gets a plot of its own. */
const GROUPS = [
  ['Loss', /^(loss|infonce|loss\..*)$/],
  ['Alignment and collapse', /^(positive|cosine|deviation)$/],
  ['Accuracy within the batch', /accuracy|top\d|^right/],
  ['Temperature', /^(tau|beta|temperature)/],
  ['Length of the gradient', /^gradient/, 'logarithmic'],
  ['Learning rates and schedules', /^(rate|eta|gamma)$/],
  ['Chains of negatives', /^(accepted|moved|outside|cold|effective)/],
  ['Plan of the epoch', /^plan/],
  ['Seconds of a step', /^(seconds|waited)$/],
  ['Images that were replaced', /^substituted/],
];

/* Where a step stands, not how it went. */
const PLACES = new Set(['total', 'epoch', 'step', 'time', 'images']);

export function groupColumns(columns) {
  const names = Object.keys(columns).filter(name => !PLACES.has(name) && isTold(columns[name]));
  const groups = GROUPS.map(([title, pattern, scale]) => ({ title, names: names.filter(name => pattern.test(name)), scale }));
  const taken = new Set(groups.flatMap(group => group.names));
  const rest = names.filter(name => !taken.has(name)).map(name => ({ title: name, names: [name] }));
  return [...groups, ...rest].filter(group => group.names.length).map(group => ({ ...group, logarithmic: group.scale === 'logarithmic' && isPositive(columns, group.names) }));
}

const isTold = column => column.some(value => value != null && value !== 0);
const isPositive = (columns, names) => names.every(name => columns[name].every(value => value == null || value > 0));
