/* Which numbers of a step share a plot: those of one kind and one scale; and
 * what they are called there. */

/* In the order of the page; the names are in FILES and OBJECTIVES of foil-train(1)
 * and in foil-select(1). A name that no row has gets a plot of its own. What is
 * exact is drawn as it is: its values are set, not measured in a batch. */
/** @type {[string, RegExp, string?][]} */
const GROUPS = [
  ['Loss', /^(loss|infonce)$/],
  ['Terms of the loss', /^(invariance|variance|covariance|diagonal|off_diagonal|within|across|kl)$/],
  ['Alignment and collapse', /^(positive|cosine|deviation)$/],
  ['Accuracy within the batch', /accuracy|^top\d/],
  ['Temperature', /^(tau|tau_(mean|min|max|\d+)|temperature)$/, 'exact'],
  ['Shares of temperatures at a bound', /^(tau_floor|floored|capped)$/],
  ['Certainty of an anchor', /^certainty_/],
  ['Length of the gradient', /^gradient$/, 'logarithmic'],
  ['Learning rates and schedules', /^(rate|eta|gamma)$/, 'exact'],
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
  own_class: 'weight on the own class',
  own_shown: 'share of the own class in the batch',
  tau: 'temperature',
  tau_mean: 'mean',
  tau_min: 'least',
  tau_25: '25 % are below',
  tau_50: 'median',
  tau_75: '75 % are below',
  tau_max: 'greatest',
  tau_floor: 'at the least temperature',
  floored: 'at the lower bound',
  capped: 'longer than allowed',
  certainty_mean: 'mean',
  certainty_min: 'least',
  certainty_max: 'greatest',
  gradient: 'length',
  rate: 'learning rate',
  eta: 'learning rate of temperatures (eta)',
  gamma: 'share of the new value in running means (gamma)',
  accepted: 'proposals accepted',
  outside: 'from outside of the batch',
  dropped: 'lost by stale scores',
  cold: 'without a chain',
  moved: 'views',
  negative_mass: 'probability of the negatives',
  importance_ess: 'effective share of the draws',
  substituted: 'images replaced',
  waited: 'waiting for the batch',
  seconds: 'computing',
  exchanged: 'exchange with other ranks',
  behind: 'slowest rank behind the mean',
  slowest: 'rank',
  'plan.mean': 'planned',
  'plan.random_mean': 'shuffled',
  'plan.weight': 'planned',
  'plan.random_weight': 'shuffled',
  'plan.together': 'Pairs of a group that share a batch',
  'plan.known': 'Share of samples with features for the plan',
  'plan.fallbacks': 'Epochs without a plan of their own',
  'plan.seconds': 'planning',
  'plan.waited': 'waiting for features',
};

/* The name of a column for people. */
export const wordOf = name =>
  WORDS[name] ?? name.replace(/^plan\./, 'plan: ').replaceAll('_', ' ');

/* [{title, names, logarithmic, exact}] of the columns that tell something. */
export function groupColumns(columns) {
  const names = Object.keys(columns).filter(
    name => !LEFT_OUT.test(name) && isTold(columns[name]),
  );
  const groups = GROUPS.map(([title, pattern, scale]) =>
    ({ title, names: names.filter(name => pattern.test(name)), scale }));
  const taken = new Set(groups.flatMap(group => group.names));
  const rest = names.filter(name => !taken.has(name))
    .map(name => ({ title: wordOf(name), names: [name], scale: '' }));
  const isLogarithmic = ({ names, scale }) =>
    scale === 'logarithmic' && names.every(name => isPositive(columns[name]));
  return [...groups, ...rest].filter(group => group.names.length)
    .map(group => ({ ...group, logarithmic: isLogarithmic(group),
      exact: group.scale === 'exact' }));
}

const isTold = column => column.some(value => value != null && value !== 0);
const isPositive = column => column.every(value => value == null || value > 0);
