import { isCurrency } from '../../platform/kernel/currency.js';
import { fieldsMatch } from './match.js';
import type { FieldCondition } from './standing-order.js';

/** What kind of value stands at the paths that every work packet has; a parameter may be anything. */
const KINDS: Readonly<Record<string, 'number' | 'string'>> = {
  target: 'string',
  recipients: 'number',
  amount: 'number',
  currency: 'string',
  engine: 'string',
};

/** What an operator compares with alone; null: with any value. */
const COMPARES_WITH: Readonly<Record<keyof FieldCondition, 'number' | 'text' | null>> = {
  $eq: null,
  $ne: null,
  $lt: 'number',
  $lte: 'number',
  $gt: 'number',
  $gte: 'number',
  $in: null,
  $nin: null,
  $exists: null,
  $prefix: 'text',
  $suffix: 'text',
  $domainIn: 'text',
};
const BOUNDS = ['$lt', '$lte', '$gt', '$gte'] as const;

/** Why no value can satisfy the condition at this path, for a person; undefined where one can. */
export function contradictionIn(path: string, condition: FieldCondition): string | undefined {
  if (condition.$exists === false) {
    const alone = Object.keys(condition).length === 1;
    return alone ? undefined : '$exists: false contradicts every other operator';
  }
  const named = valuesNamed(condition);
  if (named) {
    if (named.some((value) => isOfKind(path, value) && satisfies(condition, value))) return undefined;
    return `no value of ${condition.$eq === undefined ? '$in' : '$eq'} satisfies the whole condition`;
  }
  const kinds = kindsAskedFor(path, condition);
  if (kinds.length > 1) return `no value is a ${kinds.join(' and a ')} at once`;
  return emptyRange(path, condition);
}

/** The first value that such a condition compares a currency with and that is none. */
export function unknownCurrencyIn(path: string, condition: FieldCondition): unknown {
  if (path !== 'currency' && path !== 'params.currency') return undefined;
  const { $eq, $ne, $in = [], $nin = [] } = condition;
  return [$eq, $ne, ...$in, ...$nin].find((value) => value !== undefined && !isCurrency(value));
}

/** The values that the condition lists itself; undefined where it lists none. */
function valuesNamed({ $eq, $in }: FieldCondition): readonly unknown[] | undefined {
  return $eq === undefined ? $in : [$eq];
}

function satisfies(condition: FieldCondition, value: unknown): boolean {
  return fieldsMatch({ value: condition }, () => value, false);
}

function isOfKind(path: string, value: unknown): boolean {
  return !Object.hasOwn(KINDS, path) || typeof value === KINDS[path];
}

function kindsAskedFor(path: string, condition: FieldCondition): string[] {
  const asked = Object.keys(condition).map((operator) => COMPARES_WITH[operator as keyof FieldCondition]);
  const isOfPath = (kind: string) => Object.hasOwn(KINDS, path) && KINDS[path] === kind;
  return [
    ...(asked.includes('number') || isOfPath('number') ? ['number'] : []),
    ...(asked.includes('text') || isOfPath('string') ? ['text'] : []),
  ];
}

function emptyRange(path: string, condition: FieldCondition): string | undefined {
  const { $lt, $lte, $gt, $gte } = condition;
  const upper = Math.min($lt ?? Infinity, $lte ?? Infinity);
  // There is no negative number of recipients.
  const lower = Math.max($gt ?? -Infinity, $gte ?? -Infinity, path === 'recipients' ? 0 : -Infinity);
  if (lower < upper || (lower === upper && upper !== $lt && lower !== $gt)) return undefined;
  const bounds = BOUNDS.flatMap((operator) => {
    const bound = condition[operator];
    return bound === undefined ? [] : [`${operator} ${bound}`];
  });
  return `${bounds.join(' and ')} leave${bounds.length > 1 ? '' : 's'} no number`;
}
