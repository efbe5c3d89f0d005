import { z } from 'zod';

/** The part of JSON Schema in which an operation describes what it takes: enough to check it, and to tell a model. */
export type ParamSchema =
  | (Described & {
      type: 'string';
      enum?: readonly string[] | undefined;
      minLength?: number | undefined;
      maxLength?: number | undefined;
      format?: Format | undefined;
    })
  | (Described & {
      type: 'integer' | 'number';
      enum?: readonly number[] | undefined;
      minimum?: number | undefined;
      maximum?: number | undefined;
    })
  | (Described & { type: 'boolean' })
  | (Described & {
      type: 'array';
      items: ParamSchema;
      minItems?: number | undefined;
      maxItems?: number | undefined;
    })
  | (Described & ObjectSchema);

export interface ObjectSchema {
  type: 'object';
  properties: Readonly<Record<string, ParamSchema>>;
  required?: readonly string[] | undefined;
}

interface Described {
  description?: string | undefined;
}

const FORMATS = ['email', 'uri', 'date', 'date-time', 'uuid'] as const;
type Format = (typeof FORMATS)[number];

/** Characters of a text, where its schema says nothing. */
const MAX_LENGTH = 20_000;
const MAX_ITEMS = 1_000;

/** No dot, since it separates the steps of a path. */
export const paramName = z
  .string()
  .regex(
    /^[A-Za-z][A-Za-z0-9_-]{0,59}$/,
    'must begin with a letter and have at most 60 letters, digits, _ and -',
  );

const description = z.string().min(1).max(300).optional();
const count = z.int().min(0).max(MAX_LENGTH).optional();

const anySchema: z.ZodType<ParamSchema> = z
  .lazy(() =>
    z.discriminatedUnion('type', [
      z.strictObject({
        type: z.literal('string'),
        description,
        enum: z.array(z.string()).min(1).max(100).optional(),
        minLength: count,
        maxLength: count,
        format: z.enum(FORMATS).optional(),
      }),
      z.strictObject({
        type: z.enum(['integer', 'number']),
        description,
        enum: z.array(z.number()).min(1).max(100).optional(),
        minimum: z.number().optional(),
        maximum: z.number().optional(),
      }),
      z.strictObject({ type: z.literal('boolean'), description }),
      z.strictObject({
        type: z.literal('array'),
        description,
        items: anySchema,
        minItems: count,
        maxItems: count,
      }),
      z.strictObject({
        type: z.literal('object'),
        description,
        properties: z.record(paramName, anySchema),
        required: z.array(paramName).optional(),
      }),
    ]),
  )
  .meta({ id: 'ParamSchema' });

/** What an operation takes altogether. */
export const objectSchema = z.strictObject({
  type: z.literal('object'),
  properties: z.record(paramName, anySchema).meta({ description: 'Each parameter by its name.' }),
  required: z.array(paramName).optional().meta({ description: 'The parameters that must be there.' }),
});

/** The check that a schema stands for. What it does not name is refused. */
export function checkOf(schema: ParamSchema): z.ZodType {
  switch (schema.type) {
    case 'string':
      return schema.enum ? oneOf(schema.enum) : textOf(schema);
    case 'integer':
    case 'number':
      return schema.enum ? oneOf(schema.enum) : numberOf(schema);
    case 'boolean':
      return z.boolean();
    case 'array':
      return z
        .array(checkOf(schema.items))
        .min(schema.minItems ?? 0)
        .max(schema.maxItems ?? MAX_ITEMS);
    case 'object': {
      const { required = [] } = schema;
      const properties = Object.entries(schema.properties).map(([name, each]) => {
        const check = checkOf(each);
        return [name, required.includes(name) ? check : check.optional()] as const;
      });
      return z.strictObject(Object.fromEntries(properties));
    }
  }
}

function oneOf(values: readonly (string | number)[]): z.ZodType {
  return z.literal([...values], { error: `must be one of ${values.join(', ')}` });
}

const FORMAT_CHECKS: Readonly<Record<Format, z.ZodType<string, string>>> = {
  email: z.email(),
  uri: z.url(),
  date: z.iso.date(),
  'date-time': z.iso.datetime({ offset: true }),
  uuid: z.uuid(),
};

function textOf({
  minLength = 0,
  maxLength = MAX_LENGTH,
  format,
}: Extract<ParamSchema, { type: 'string' }>): z.ZodType {
  const text = z.string().min(minLength).max(maxLength);
  return format ? text.pipe(FORMAT_CHECKS[format]) : text;
}

function numberOf({
  type,
  minimum = -Number.MAX_VALUE,
  maximum = Number.MAX_VALUE,
}: Extract<ParamSchema, { type: 'integer' | 'number' }>): z.ZodType {
  const number = z.number().min(minimum).max(maximum);
  return type === 'integer'
    ? number.refine(Number.isSafeInteger, { error: 'must be a whole number' })
    : number;
}
