import { z } from 'zod';
import type { Fault } from '../../platform/kernel/define-error.js';
import { unseenFaults } from '../capos/index.js';
import { type ParamSchema, checkOf, paramName } from '../connectors/index.js';

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
  required?: string[] | undefined;
}

/** The keywords of all types; {@link answerSchema} says which of them stand together. */
export interface AnswerField {
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  title?: string;
  description?: string;
  default?: string | number | boolean | string[];
  minLength?: number;
  maxLength?: number;
  format?: 'email' | 'uri' | 'date' | 'date-time';
  minimum?: number;
  maximum?: number;
  enum?: string[];
  enumNames?: string[];
  oneOf?: TitledChoice[];
  items?: { enum?: string[]; anyOf?: TitledChoice[] };
  minItems?: number;
  maxItems?: number;
}

interface TitledChoice {
  const: string;
  title: string;
}

const MAX_SCHEMA_BYTES = 16 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_FIELDS = 20;
const LONGEST_TEXT = 10_000;

const label = z.string().min(1).max(200);
const choices = z.array(label).min(1).max(40);
const titled = z
  .array(z.strictObject({ const: label, title: label }))
  .min(1)
  .max(40);
const count = z.int().min(0).max(LONGEST_TEXT).optional();
const described = { title: label.optional(), description: z.string().min(1).max(500).optional() };

const answerSchema = z.strictObject({
  $schema: z.string().optional(),
  type: z.literal('object'),
  properties: z
    .record(
      paramName,
      z.discriminatedUnion('type', [
        z.strictObject({
          type: z.literal('string'),
          ...described,
          minLength: count,
          maxLength: count,
          format: z.enum(['email', 'uri', 'date', 'date-time']).optional(),
          enum: choices.optional(),
          enumNames: choices.optional(),
          oneOf: titled.optional(),
          default: z.string().optional(),
        }),
        z.strictObject({
          type: z.enum(['number', 'integer']),
          ...described,
          minimum: z.number().optional(),
          maximum: z.number().optional(),
          default: z.number().optional(),
        }),
        z.strictObject({ type: z.literal('boolean'), ...described, default: z.boolean().optional() }),
        z.strictObject({
          type: z.literal('array'),
          ...described,
          items: z.union([
            z.strictObject({ type: z.literal('string'), enum: choices }),
            z.strictObject({ anyOf: titled }),
          ]),
          minItems: count,
          maxItems: count,
          default: z.array(z.string()).optional(),
        }),
      ]),
    )
    .refine((fields) => Object.keys(fields).length > 0 && Object.keys(fields).length <= MAX_FIELDS, {
      error: `must have 1 to ${MAX_FIELDS} fields`,
    }),
  required: z.array(z.string()).max(MAX_FIELDS).optional(),
});

/** Every fault of a schema that an agent has sent; none when a form can be made of it. */
export function faultsOfSchema(schema: unknown): Fault[] {
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    return [faultAt('answerSchema', 'maxJsonBytes', 'must have at most 16 KB as JSON')];
  const parsed = answerSchema.safeParse(schema, { error: inWords });
  if (!parsed.success) return faultsOf('answerSchema', parsed.error);
  const { properties, required = [] } = schema as AnswerSchema;
  const fields = Object.entries(properties);
  return [
    ...unseenFaults(schema, 'answerSchema'),
    ...required
      .filter((name) => !Object.hasOwn(properties, name))
      .map((name) =>
        faultAt('answerSchema.required', 'known', `names ${name}, which is none of the properties`),
      ),
    ...fields.flatMap(([name, field]) => faultsOfField(`answerSchema.properties.${name}`, field)),
  ];
}

function faultsOfField(path: string, field: AnswerField): Fault[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems } = field;
  const bounds = [
    [minLength, maxLength],
    [minimum, maximum],
    [minItems, Math.min(maxItems ?? Infinity, choicesOf(field)?.length ?? Infinity)],
  ];
  if (bounds.some(([least = -Infinity, most = Infinity]) => least > most))
    return [faultAt(path, 'possible', 'has bounds that no answer can meet')];
  if (field.default === undefined) return [];
  const parsed = checkOf(paramOf(field)).safeParse(field.default, { error: inWords });
  return parsed.success ? [] : faultsOf(`${path}.default`, parsed.error);
}

/** Every fault of an answer, under paths such as `answer.plan`. */
export function faultsOfAnswer({ properties, required = [] }: AnswerSchema, answer: Answer): Fault[] {
  if (Buffer.byteLength(JSON.stringify(answer)) > MAX_ANSWER_BYTES)
    return [faultAt('answer', 'maxJsonBytes', 'must have at most 64 KB as JSON')];
  const missing = required.filter((name) => !Object.hasOwn(answer, name));
  const fields = Object.entries(properties).map(([name, field]) => [name, paramOf(field)] as const);
  const given = { type: 'object', properties: Object.fromEntries(fields) } as const;
  const parsed = checkOf(given).safeParse(answer, { error: inWords });
  return [
    ...missing.map((name) => faultAt(`answer.${name}`, 'required', 'must be given')),
    ...(parsed.success ? [] : faultsOf('answer', parsed.error)),
  ];
}

/** What a field offers to choose from; undefined: it is filled in. The agent reads the value, so a title alone could mislead. */
export function choicesOf(field: AnswerField): { value: string; title: string }[] | undefined {
  const { oneOf = field.items?.anyOf, enum: values = field.items?.enum, enumNames } = field;
  const offered =
    oneOf?.map(({ const: value, title }) => ({ value, title })) ??
    values?.map((value, index) => ({ value, title: enumNames?.[index] ?? value }));
  return offered?.map(({ value, title }) => ({
    value,
    title: title === value ? title : `${title} (answers “${value}”)`,
  }));
}

/** The same field as parameters are described, which are checked already. */
function paramOf(field: AnswerField): ParamSchema {
  const { type, maxLength = LONGEST_TEXT, minLength, format, minimum, maximum, minItems, maxItems } = field;
  const text = { type: 'string', enum: choicesOf(field)?.map(({ value }) => value) } as const;
  if (type === 'string') return { ...text, minLength, maxLength, format };
  if (type === 'array') return { type, items: text, minItems, maxItems };
  return type === 'boolean' ? { type } : { type, minimum, maximum };
}

/** What is wrong, for the person who fills in the form and for the author of the agent. */
const inWords: z.core.$ZodErrorMap = (issue) => {
  const units = issue.origin === 'string' ? ' characters' : issue.origin === 'array' ? ' choices' : '';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${WORDS[issue.expected] ?? issue.expected}`;
    case 'too_small':
      return `must ${units ? 'have' : 'be'} at least ${issue.minimum}${units}`;
    case 'too_big':
      return `must ${units ? 'have' : 'be'} at most ${issue.maximum}${units}`;
    case 'invalid_format':
      return `must be ${WORDS[issue.format] ?? issue.format}`;
    default:
      return undefined;
  }
};

const WORDS: Record<string, string> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  email: 'a mail address',
  url: 'an address such as https://example.com',
  date: 'a day such as 2026-02-28',
  datetime: 'a time such as 2026-02-28T09:30:00Z',
};

function faultsOf(root: string, { issues }: z.ZodError): Fault[] {
  return issues.flatMap((issue) => {
    const path = [root, ...issue.path].map(String).join('.');
    if (issue.code !== 'unrecognized_keys') return [faultAt(path, issue.code, issue.message)];
    return issue.keys.map((key) => faultAt(`${path}.${key}`, 'unknownProperty', 'is not known'));
  });
}

function faultAt(path: string, rule: string, must: string): Fault {
  return { path, rule, message: `${path} ${must}` };
}
