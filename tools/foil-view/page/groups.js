/* Which numbers of a step share a plot: those of one kind and one scale. */

/* In the order of the page; the names are in FILES and OBJECTIVES of foil-train(1)
 * and in foil-select(1). A name that no row has gets a plot of its own. */
const GROUPS = [
  ['Loss', /^(loss|infonce)$/],
  ['Terms of the loss', /^(invariance|variance|covariance|diagonal|off_diagonal|within|across|kl)$/],
  ['Alignment and collapse', /^(positive|cosine|deviation)$/],
  ['Accuracy within the batch', /accuracy|^top\d/],
  ['Temperature', /^(tau|tau_(mean|min|max|\d+)|temperature)$/],
  ['Shares of temperatures at a bound', /^(tau_floor|floored|capped)$/],
  ['Certainty of an anchor', /^certainty_/],
  ['Length of the gradient', /^gradient$/, 'logarithmic'],
  ['Learning rates and schedules', /^(rate|eta|gamma)$/],
  ['Chains of negatives, shares', /^(accepted|outside|dropped|cold)$/],
  ['Views whose chain moved', /^moved$/],
  ['Draws from the bank', /^(negative_mass|importance_ess)$/],
  ['Batch loss of the plan', /^plan\.(random_)?mean$/],
  ['Weight within the batches of the plan', /^plan\.(random_)?weight$/],
  ['Seconds of a step', /^(seconds|waited|exchanged|behind)$/],
  ['The slowest rank', /^slowest$/],
  ['Seconds of planning', /^plan\.(seconds|waited)$/],
];

/* Where a step stands, or what is seen better elsewhere. */
const LEFT_OUT = /^(total|epoch|step|time|images|plan\.(from|stale|eval|time|(random_)?(min|max)))$/;

/* [{title, names, logarithmic}] of the columns that tell something. */
export function groupColumns(columns) {
  const names = Object.keys(columns).filter(name => !LEFT_OUT.test(name) && isTold(columns[name]));
  const groups = GROUPS.map(([title, pattern, scale]) =>
    ({ title, names: names.filter(name => pattern.test(name)), scale }));
  const taken = new Set(groups.flatMap(group => group.names));
  const rest = names.filter(name => !taken.has(name)).map(name => ({ title: name, names: [name] }));
  const isLogarithmic = ({ names, scale }) => scale === 'logarithmic' && names.every(name => isPositive(columns[name]));
  return [...groups, ...rest].filter(group => group.names.length)
    .map(group => ({ ...group, logarithmic: isLogarithmic(group) }));
}

const isTold = column => column.some(value => value != null && value !== 0);
const isPositive = column => column.every(value => value == null || value > 0);
