import type { Fault } from '../../platform/kernel/define-error.js';
import { isMailAddress } from '../../platform/kernel/mail-address.js';
import { characters, isLongerThan, lengthOf } from '../../platform/kernel/text-length.js';
import { unseenFaults } from '../capos/unseen-text.js';

/** What an agent from outside asks a person; all of it is the agent's own text. */
export interface Question {
  title: string;
  answerSchema: AnswerSchema;
  reason: string | null;
  /** As the token names it; null for a member's own token. */
  agent: string | null;
  /** The first token of the rotations of the one that asked. */
  tokenRootId: string;
  externalId: string | null;
  /** Of the whole question, to tell the same one sent again from another. */
  requestHash: string;
}

export type Answer = Record<string, unknown>;

/** The forms of MCP elicitation: an object of primitive properties (docs/decisions/0048). */
export interface AnswerSchema {
  type: 'object';
  properties: Record<string, AnswerField>;
  required?: string[];
}

interface TitledChoice {
  const: string;
  title: string;
}

export interface AnswerField {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  format?: (typeof FORMATS)[number];
  minimum?: number;
  maximum?: number;
  enum?: string[];
  enumNames?: string[];
  oneOf?: TitledChoice[];
  items?: { type?: 'string'; enum?: string[]; anyOf?: TitledChoice[] };
  minItems?: number;
  maxItems?: number;
}

const FORMATS = ['email', 'uri', 'date', 'date-time'] as const;
const MAX_SCHEMA_BYTES = 16 * 1024;
const MAX_FIELDS = 20;
const MAX_CHOICES = 40;
const MAX_TITLE = 200;
const MAX_DESCRIPTION = 500;
/** Of a text without a `maxLength`, too. */
const LONGEST_TEXT = 10_000;
const MAX_ANSWER_BYTES = 64 * 1024;
const FIELD_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Answers how the fault is told, to be read after "must"; undefined: none. */
type Check = (value: unknown) => string | undefined;

const check =
  (isRight: (value: unknown) => boolean, must: string): Check =>
  (value) =>
    isRight(value) ? undefined : must;
const text = (most: number) =>
  check(
    (value) => typeof value === 'string' && value.trim() !== '' && !isLongerThan(value, most),
    `be text of 1 to ${characters(most)}`,
  );
const count = check(
  (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LONGEST_TEXT,
  `be an integer from 0 to ${LONGEST_TEXT}`,
);
const bound = check((value) => Number.isFinite(value), 'be a number');
const isChoice = (value: unknown) =>
  typeof value === 'string' && value !== '' && !isLongerThan(value, MAX_TITLE);
const isTitled = (value: unknown) =>
  isObject(value) &&
  Object.keys(value).toSorted().join() === 'const,title' &&
  Object.values(value).every(isChoice);
const listOf = (isRight: (value: unknown) => boolean, what: string) =>
  check(
    (value) =>
      Array.isArray(value) && value.length > 0 && value.length <= MAX_CHOICES && value.every(isRight),
    `be a list of 1 to ${MAX_CHOICES} ${what} of 1 to ${characters(MAX_TITLE)}`,
  );
const choices = listOf(isChoice, 'texts');
const titled = listOf(isTitled, '{ const, title }, both texts');
const items: Check = (value) => {
  if (!isObject(value)) return 'be an object';
  const { type, enum: plain, anyOf, ...unknown } = value;
  if (Object.keys(unknown).length > 0) return `not have ${Object.keys(unknown).join(', ')}`;
  if (anyOf !== undefined)
    return type === undefined && plain === undefined ? titled(anyOf) : 'have either enum or anyOf';
  return type === 'string' ? choices(plain) : 'have the type string with an enum, or anyOf';
};
const anything: Check = () => undefined;

/** The keywords of each type; a default is checked as an answer is. */
const KEYWORDS: Record<AnswerField['type'], Record<string, Check>> = {
  string: {
    minLength: count,
    maxLength: count,
    format: check((value) => FORMATS.some((format) => format === value), `be one of ${FORMATS.join(', ')}`),
    enum: choices,
    enumNames: choices,
    oneOf: titled,
  },
  number: { minimum: bound, maximum: bound },
  integer: { minimum: bound, maximum: bound },
  boolean: {},
  array: { items, minItems: count, maxItems: count },
};
const COMMON: Record<string, Check> = {
  type: anything,
  title: text(MAX_TITLE),
  description: text(MAX_DESCRIPTION),
  default: anything,
};

/** Every fault of a schema that an agent has sent; none when a form can be made of it. */
export function faultsOfSchema(schema: unknown): Fault[] {
  const at = 'answerSchema';
  if (!isObject(schema)) return [fault(at, 'isObject', 'be an object')];
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    return [fault(at, 'maxJsonBytes', 'have at most 16 KB as JSON')];
  const { $schema: _dialect, type, properties, required = [], ...unknown } = schema;
  const faults = Object.keys(unknown).map((key) => unknownKeyword(`${at}.${key}`));
  if (type !== 'object') faults.push(fault(`${at}.type`, 'type', 'be object'));
  if (!isObject(properties)) return [...faults, fault(`${at}.properties`, 'isObject', 'be an object')];
  const names = Object.keys(properties);
  if (names.length === 0 || names.length > MAX_FIELDS)
    faults.push(fault(`${at}.properties`, 'size', `have 1 to ${MAX_FIELDS} fields`));
  const isRequired = Array.isArray(required) && new Set(required).size === required.length;
  if (!isRequired || !required.every((name) => names.includes(name as string)))
    faults.push(fault(`${at}.required`, 'required', 'list names of the properties, each once'));
  for (const [name, field] of Object.entries(properties)) {
    const path = `${at}.properties.${name}`;
    if (!FIELD_NAME.test(name))
      faults.push(
        fault(path, 'name', 'have a name of 1 to 64 letters, digits, _ and -, which begins with a letter'),
      );
    faults.push(...faultsOfField(field, path));
  }
  return [...faults, ...unseenFaults(schema, at)];
}

function faultsOfField(field: unknown, path: string): Fault[] {
  if (!isObject(field)) return [fault(path, 'isObject', 'be an object')];
  const { type } = field;
  const types = Object.keys(KEYWORDS);
  if (typeof type !== 'string' || !types.includes(type))
    return [fault(`${path}.type`, 'type', `be one of ${types.join(', ')}: a form has no nested fields`)];
  const known = new Map(Object.entries({ ...COMMON, ...KEYWORDS[type as AnswerField['type']] }));
  const faults = Object.entries(field).flatMap(([keyword, value]) => {
    const checked = known.get(keyword);
    if (!checked) return [unknownKeyword(`${path}.${keyword}`)];
    const must = checked(value);
    return must === undefined ? [] : [fault(`${path}.${keyword}`, keyword, must)];
  });
  return faults.length > 0 ? faults : contradictionsOf(field as unknown as AnswerField, path);
}

/** What each keyword allows alone, and all of them together do not. */
function contradictionsOf(field: AnswerField, path: string): Fault[] {
  const {
    enum: plain,
    enumNames,
    oneOf,
    minLength,
    maxLength,
    format,
    minimum,
    maximum,
    minItems,
    maxItems,
  } = field;
  const offered = choicesOf(field)?.map(({ value }) => value);
  const isChosen = oneOf !== undefined || plain !== undefined;
  const wrong: [boolean, string, string][] = [
    [oneOf !== undefined && plain !== undefined, 'oneOf', 'not stand beside enum'],
    [
      isChosen && [minLength, maxLength, format].some((one) => one !== undefined),
      'type',
      'not limit a text that is chosen from a list',
    ],
    [
      enumNames !== undefined && enumNames.length !== plain?.length,
      'enumNames',
      'have one name for each value of enum',
    ],
    [offered !== undefined && new Set(offered).size < offered.length, 'enum', 'have each value once'],
    [field.type === 'array' && offered === undefined, 'items', 'be given'],
    [(minLength ?? 0) > (maxLength ?? LONGEST_TEXT), 'minLength', 'not be larger than maxLength'],
    [(minimum ?? -Infinity) > (maximum ?? Infinity), 'minimum', 'not be larger than maximum'],
    [
      (minItems ?? 0) > Math.min(maxItems ?? Infinity, offered?.length ?? 0),
      'minItems',
      'not be larger than maxItems or the number of choices',
    ],
  ];
  const found = wrong.find(([isWrong]) => isWrong);
  if (found) return [fault(`${path}.${found[1]}`, found[1], found[2])];
  return field.default === undefined ? [] : faultsOfValue(field, field.default, `${path}.default`);
}

/** What a field offers to choose from; undefined: it is filled in. */
export function choicesOf({
  enum: plain,
  enumNames,
  oneOf,
  items: each,
}: AnswerField): { value: string; title: string }[] | undefined {
  const named = oneOf ?? each?.anyOf;
  if (named) return named.map(({ const: value, title }) => ({ value, title }));
  return (plain ?? each?.enum)?.map((value, index) => ({ value, title: enumNames?.[index] ?? value }));
}

/** Every fault of an answer, under paths such as `answer.plan`. */
export function faultsOfAnswer({ properties, required = [] }: AnswerSchema, answer: Answer): Fault[] {
  const known = new Map(Object.entries(properties));
  if (Buffer.byteLength(JSON.stringify(answer)) > MAX_ANSWER_BYTES)
    return [fault('answer', 'maxJsonBytes', 'have at most 64 KB as JSON')];
  const missing = required.filter((name) => !Object.hasOwn(answer, name));
  return [
    ...missing.map((name) => fault(`answer.${name}`, 'required', 'be given')),
    ...Object.entries(answer).flatMap(([name, value]) => {
      const field = known.get(name);
      const path = `answer.${name}`;
      return field
        ? faultsOfValue(field, value, path)
        : [fault(path, 'unknownProperty', 'not be given: the question has no such field')];
    }),
  ];
}

function faultsOfValue(field: AnswerField, value: unknown, path: string): Fault[] {
  const wrong = faultOfValue(field, value);
  return wrong === undefined ? [] : [fault(path, ...wrong)];
}

function faultOfValue(field: AnswerField, value: unknown): [rule: string, must: string] | undefined {
  const {
    type,
    minLength = 0,
    maxLength = LONGEST_TEXT,
    minimum = -Infinity,
    maximum = Infinity,
    minItems = 0,
    maxItems = Infinity,
  } = field;
  const offered = choicesOf(field)?.map((choice) => choice.value);
  switch (type) {
    case 'boolean':
      return typeof value === 'boolean' ? undefined : ['type', 'be true or false'];
    case 'number':
    case 'integer':
      if (typeof value !== 'number' || !Number.isFinite(value)) return ['type', 'be a number'];
      if (type === 'integer' && !Number.isSafeInteger(value)) return ['type', 'be an integer'];
      if (value < minimum) return ['minimum', `be at least ${minimum}`];
      return value > maximum ? ['maximum', `be at most ${maximum}`] : undefined;
    case 'array': {
      const isChosen =
        Array.isArray(value) &&
        new Set(value).size === value.length &&
        value.every((one) => offered!.includes(one as string));
      if (!isChosen) return ['enum', 'be a list of choices of the question, each once'];
      if (value.length < minItems) return ['minItems', `have at least ${minItems}`];
      return value.length > maxItems ? ['maxItems', `have at most ${maxItems}`] : undefined;
    }
    case 'string':
      if (typeof value !== 'string') return ['type', 'be text'];
      if (offered)
        return offered.includes(value) ? undefined : ['enum', 'be one of the choices of the question'];
      if (lengthOf(value) < minLength) return ['minLength', `have at least ${characters(minLength)}`];
      if (isLongerThan(value, maxLength)) return ['maxLength', `have at most ${characters(maxLength)}`];
      return field.format === undefined || hasFormat(value, field.format)
        ? undefined
        : ['format', FORMAT_WORDS[field.format]];
  }
}

const FORMAT_WORDS = {
  email: 'be a mail address',
  uri: 'be a web address such as https://example.com',
  date: 'be a day such as 2026-02-28',
  'date-time': 'be a time such as 2026-02-28T09:30:00Z',
} as const;

function hasFormat(value: string, format: (typeof FORMATS)[number]): boolean {
  switch (format) {
    case 'email':
      return isMailAddress(value);
    case 'uri':
      return /^[a-z][a-z0-9+.-]*:\S+$/i.test(value) && URL.canParse(value);
    case 'date':
      return isDay(value);
    case 'date-time':
      return (
        /^.{10}T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i.test(value) &&
        isDay(value.slice(0, 10))
      );
  }
}

/** JavaScript makes 2 March of 30 February. */
function isDay(value: string): boolean {
  const day = /^\d{4}-\d\d-\d\d$/.test(value) ? new Date(`${value}T00:00:00Z`) : undefined;
  return day !== undefined && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(value);
}

function fault(path: string, rule: string, must: string): Fault {
  return { path, rule, message: `${path} must ${must}` };
}

function unknownKeyword(path: string): Fault {
  return fault(path, 'unknownKeyword', 'not be given: a form has no such keyword');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
