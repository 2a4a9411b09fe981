/* Groups of columns that share a plot, and readable names of columns. */

/* In the order of the page; columns are documented in FILES and OBJECTIVES of
 * foil-train(1) and in foil-select(1). Other columns get a plot each. Exact values are
 * set, not measured in a batch, and are not smoothed. */
/** @type {[string, RegExp, string?][]} */
const GROUPS = [
  ['Loss', /^(loss|infonce)$/],
  ['Loss terms', /^(invariance|variance|covariance|diagonal|off_diagonal|within|across|kl)$/],
  ['Alignment and collapse', /^(positive|cosine|deviation)$/],
  ['In-batch accuracy', /accuracy|^top\d/],
  ['Temperature', /^(tau|tau_(mean|min|max|\d+)|temperature)$/, 'exact'],
  ['Values at a bound, share', /^(tau_at_min|floored|capped)$/],
  ['Anchor certainty', /^certainty_/],
  ['Gradient norm', /^grad_norm$/, 'logarithmic'],
  ['Learning rates and schedules', /^(lr|eta|gamma)$/, 'exact'],
  ['Negative chains, shares', /^(accepted|outside|dropped|cold)$/],
  ['Views with a moved chain', /^moved$/],
  ['Draws from the bank', /^(negative_mass|importance_ess)$/],
  ['Planned batch loss', /^plan\.(random_)?mean$/],
  ['Weight within planned batches', /^plan\.(random_)?weight$/],
  ['Step time, s', /^(seconds|waited|exchanged|rank_lag)$/],
  ['Slowest rank', /^slowest_rank$/],
  ['Planning time, s', /^plan\.(seconds|waited)$/],
];

/* The number and time of a step, and values shown elsewhere. */
const LEFT_OUT = /^(total|epoch|step|time|images|plan\.(from|stale|eval|time|(random_)?(min|max)))$/;

const WORDS = {
  infonce: 'NT-Xent of the batch',
  diagonal: 'on the diagonal',
  off_diagonal: 'off the diagonal',
  within: 'within the views',
  across: 'across the views',
  kl: 'KL divergence',
  positive: 'cosine of two views of an image',
  cosine: 'cosine of any two rows',
  deviation: 'deviation of a dimension',
  same_class_weight: 'weight on the same class',
  same_class_share: 'same class in the batch, share',
  tau: 'temperature',
  tau_mean: 'mean',
  tau_min: 'min',
  tau_25: '25th percentile',
  tau_50: 'median',
  tau_75: '75th percentile',
  tau_max: 'max',
  tau_at_min: 'temperature at its minimum',
  floored: 'difference at its lower bound',
  capped: 'rows shortened',
  certainty_mean: 'mean',
  certainty_min: 'min',
  certainty_max: 'max',
  grad_norm: 'norm',
  lr: 'learning rate',
  eta: 'learning rate of temperatures (eta)',
  gamma: 'weight of new values in running means (gamma)',
  accepted: 'proposals accepted',
  outside: 'outside the batch',
  dropped: 'dropped for stale scores',
  cold: 'without a chain',
  moved: 'views',
  negative_mass: 'probability of the negatives',
  importance_ess: 'effective sample size, share',
  substituted: 'images replaced',
  waited: 'waiting for a batch',
  seconds: 'computing',
  exchanged: 'exchange between ranks',
  rank_lag: 'slowest rank minus mean',
  slowest_rank: 'rank',
  'plan.mean': 'planned',
  'plan.random_mean': 'shuffled',
  'plan.weight': 'planned',
  'plan.random_weight': 'shuffled',
  'plan.same_group_pairs': 'Pairs of a group in the same batch',
  'plan.with_features': 'Samples with features for the plan, share',
  'plan.fallbacks': 'Epochs with a fallback plan',
  'plan.seconds': 'planning',
  'plan.waited': 'waiting for features',
};

/* The readable name of a column. */
export const nameColumn = name =>
  WORDS[name] ?? name.replace(/^plan\./, 'plan: ').replaceAll('_', ' ');

/* [{title, names, logarithmic, exact}] of the columns that are not all zero. */
export function groupColumns(columns) {
  const names = Object.keys(columns).filter(
    name => !LEFT_OUT.test(name) && hasValues(columns[name]),
  );
  const groups = GROUPS.map(([title, pattern, scale]) =>
    ({ title, names: names.filter(name => pattern.test(name)), scale }));
  const taken = new Set(groups.flatMap(group => group.names));
  const rest = names.filter(name => !taken.has(name))
    .map(name => ({ title: nameColumn(name), names: [name], scale: '' }));
  const isLogarithmic = ({ names, scale }) =>
    scale === 'logarithmic' && names.every(name => isPositive(columns[name]));
  return [...groups, ...rest].filter(group => group.names.length)
    .map(group => ({ ...group, logarithmic: isLogarithmic(group),
      exact: group.scale === 'exact' }));
}

const hasValues = column => column.some(value => value != null && value !== 0);
const isPositive = column => column.every(value => value == null || value > 0);
