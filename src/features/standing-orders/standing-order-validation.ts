import { ValidateBy, type ValidationArguments } from 'class-validator';
import { cutText } from '../../platform/kernel/text.js';
import { isLongerThan } from '../../platform/kernel/text-length.js';
import { canonicalDomain } from './match.js';
import type { FieldCondition } from './standing-order.js';

const MAX_FIELDS = 20;
const MAX_LIST = 100;
const MAX_TEXT = 500;
const MAX_SEGMENTS = 8;

/** What a path may start with. A misspelt root would make an order that silently never matches. */
const WHOLE_FIELDS = ['target', 'recipients', 'amount', 'currency', 'engine'];
const SEGMENT = /^[A-Za-z0-9_-]{1,64}$/;
const NOT_DATA = ['__proto__', 'constructor', 'prototype'];

/** What each operator takes, in the words of the message. */
const OPERANDS: Record<keyof FieldCondition, [accepts: (operand: unknown) => boolean, takes: string]> = {
  $eq: [isScalar, 'a text, number or boolean'],
  $ne: [isScalar, 'a text, number or boolean'],
  $lt: [Number.isFinite, 'a number'],
  $lte: [Number.isFinite, 'a number'],
  $gt: [Number.isFinite, 'a number'],
  $gte: [Number.isFinite, 'a number'],
  $in: [isListOf(isScalar), `a list of 1 to ${MAX_LIST} texts, numbers or booleans`],
  $nin: [isListOf(isScalar), `a list of 1 to ${MAX_LIST} texts, numbers or booleans`],
  $exists: [(operand) => typeof operand === 'boolean', 'true or false'],
  $prefix: [isPartOfText, `a text of 1 to ${MAX_TEXT} characters`],
  $suffix: [isPartOfText, `a text of 1 to ${MAX_TEXT} characters`],
  $domainIn: [isListOf(isDomain), `a list of 1 to ${MAX_LIST} domains such as example.com`],
};

/** The faults of `match.fields`, each for a person; none when the conditions can be stored. */
export function fieldFaults(fields: unknown): string[] {
  if (!isRecord(fields)) return ['fields must be an object of conditions by path'];
  const paths = Object.keys(fields);
  // None at all is refused too: Nest's pipe drops names such as `constructor` without a word, and an order that was
  // meant to be narrow would be wide.
  if (paths.length === 0 || paths.length > MAX_FIELDS) return [`fields must have 1 to ${MAX_FIELDS} paths`];
  return paths.flatMap((path) => [...pathFaults(path), ...conditionFaults(path, fields[path])]);
}

function pathFaults(path: string): string[] {
  if (WHOLE_FIELDS.includes(path)) return [];
  const [root, ...segments] = path.split('.');
  const named = segments.length > 0 && segments.length < MAX_SEGMENTS;
  const plain = segments.every((segment) => SEGMENT.test(segment) && !NOT_DATA.includes(segment));
  if (root === 'params' && named && plain) return [];
  return [
    `${shown(path)}: a path is ${WHOLE_FIELDS.join(', ')} or params.<name>, at most ${MAX_SEGMENTS} names long`,
  ];
}

function conditionFaults(path: string, condition: unknown): string[] {
  if (!isRecord(condition) || Object.keys(condition).length === 0) {
    return [`${shown(path)}: a condition is an object with at least one operator`];
  }
  return Object.entries(condition).flatMap(([operator, operand]) => {
    if (!Object.hasOwn(OPERANDS, operator)) {
      return [`${shown(path)}: ${shown(operator)} is not one of ${Object.keys(OPERANDS).join(' ')}`];
    }
    const [accepts, takes] = OPERANDS[operator as keyof FieldCondition];
    return accepts(operand) ? [] : [`${shown(path)}: ${operator} must be ${takes}`];
  });
}

export function AreFieldConditions(): PropertyDecorator {
  return ValidateBy({
    name: 'areFieldConditions',
    validator: {
      validate: (value) => fieldFaults(value).length === 0,
      defaultMessage: (args) => fieldFaults(args?.value).join('; '),
    },
  });
}

/** The other end of a window: there, and another time, because 09:00 to 09:00 could mean no hour or all of them. */
export function HasOtherEnd(other: 'from' | 'to'): PropertyDecorator {
  return ValidateBy({
    name: 'hasOtherEnd',
    validator: {
      validate: (value, args) => isText(sibling(args, other)) && sibling(args, other) !== value,
      defaultMessage: () => `$property needs ${other}, and the two must differ`,
    },
  });
}

function sibling(args: ValidationArguments | undefined, property: string): unknown {
  return (args?.object as Record<string, unknown> | undefined)?.[property];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !isLongerThan(value, MAX_TEXT);
}

function isPartOfText(value: unknown): boolean {
  return isText(value) && value !== '';
}

function isScalar(value: unknown): boolean {
  return isText(value) || typeof value === 'boolean' || Number.isFinite(value);
}

function isDomain(value: unknown): boolean {
  return (
    isText(value) &&
    /^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u.test(value) &&
    canonicalDomain(value) !== undefined
  );
}

function isListOf(accepts: (element: unknown) => boolean): (operand: unknown) => boolean {
  return (operand) =>
    Array.isArray(operand) && operand.length > 0 && operand.length <= MAX_LIST && operand.every(accepts);
}

/** A message quotes what was sent, but not megabytes of it. */
function shown(text: string): string {
  return JSON.stringify(cutText(text, 80));
}
