import { z } from 'zod';
import { isCurrency } from '../../platform/kernel/currency.js';
import { isId } from '../../platform/kernel/ids.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { objectSchema, paramName } from './param-schema.js';

/** The form of CONNECTORS_FILE. What one part says about another is checked by `load-connectors.ts`. */

/** Of connectors and operations. */
const NAME = /^[a-z][a-z0-9_-]{0,59}$/;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

const name = z.string().regex(NAME, 'must be lower-case letters, digits, _ and -, and begin with a letter');
const IN_A_LINE = 'must be 1 to 300 characters on one line';
const sentence = z
  .string()
  .min(1, IN_A_LINE)
  .max(300, IN_A_LINE)
  .refine((text) => ONE_LINE.test(text), { error: IN_A_LINE });

const headerValue = z
  .string()
  .max(4096)
  .regex(/^[\x20-\x7e]+$/, 'must be visible ASCII')
  .meta({ description: 'The value itself; anyone who reads this file reads it.' });

const secretHeader = z
  .strictObject({
    env: z
      .string()
      .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must be the name of an environment variable')
      .meta({
        description: 'The environment variable that holds the secret; <NAME>_FILE may name a file with it.',
      }),
    prefix: z
      .string()
      .regex(/^[\x20-\x7e]{0,100}$/, 'must be visible ASCII')
      .optional()
      .meta({ description: 'What stands before the secret, such as "Bearer ".' }),
  })
  .meta({ description: 'A secret. It is never written to logs, receipts, records or answers.' });

const paramPath = z
  .string()
  .regex(/^params(\.[A-Za-z0-9_-]{1,60}){1,8}$/, 'must be a path such as params.email');
const valuePath = z
  .string()
  .regex(
    /^(params|response)(\.[A-Za-z0-9_-]{1,60}){1,8}$/,
    'must be a path such as params.email or response.data.id',
  )
  .meta({
    description: 'Where the value stands: in what the operation was called with, or in its JSON answer.',
  });
const constant = z
  .strictObject({ value: z.union([z.string().max(2_000), z.number(), z.boolean()]) })
  .meta({ description: 'A value that is always the same.' });

const undo = z
  .strictObject({
    operation: name.meta({ description: 'The operation of this connector that undoes this one.' }),
    params: z
      .record(
        paramName,
        z.union([valuePath, constant], {
          error: 'must be a path such as params.email or response.data.id, or { "value": ... }',
        }),
      )
      .meta({ description: 'Each parameter of that operation, and where its value comes from.' }),
  })
  .meta({ description: 'What takes this operation back.' });

const operation = z.strictObject({
  name,
  description: sentence.meta({
    description: 'What it does, for the people who approve it and for a model that chooses it.',
  }),
  method: z.enum(METHODS),
  path: z
    .string()
    .regex(/^\/[!-~]{0,499}$/, 'must begin with / and be visible ASCII')
    .meta({
      description:
        'Appended to baseUrl; {name} stands for a required parameter. The other parameters are the query of GET and DELETE and the JSON body of the rest.',
      examples: ['/contacts/{id}'],
    }),
  params: objectSchema
    .default({ type: 'object', properties: {} })
    .meta({ description: 'What it takes, in a part of JSON Schema.' }),
  timeoutSeconds: z.int().min(1).max(25).default(10),
  idempotent: z.boolean().default(false).meta({
    description:
      'The service heeds Idempotency-Key: the call may be repeated after a failure, and takes effect once.',
  }),
  readOnly: z
    .boolean()
    .default(false)
    .meta({ description: 'It changes nothing, so nothing has to undo it.' }),
  onlyAsUndo: z
    .boolean()
    .default(false)
    .meta({ description: 'It is only called to undo another operation.' }),
  amount: z
    .strictObject({
      value: paramPath.meta({ description: 'The parameter that holds the sum.' }),
      currency: z.union([paramPath, z.string().refine(isCurrency)], {
        error: 'must be a currency of ISO 4217, or a path such as params.currency',
      }),
    })
    .optional()
    .meta({ description: 'The money that it moves: limits and budgets of standing orders count it.' }),
  undo: undo.optional(),
});

const connector = z.strictObject({
  name,
  description: sentence.optional(),
  baseUrl: z
    .string()
    .max(500)
    .meta({ description: 'https at a public address, unless OUTBOUND_ALLOW lists its host and port.' }),
  headers: z
    .record(
      z.string(),
      z.union([headerValue, secretHeader], {
        error: 'must be a text of visible ASCII on one line, or { "env": "NAME" } for a secret',
      }),
    )
    .default({}),
  workspaces: z
    .union(
      [
        z.literal('all'),
        z
          .array(z.string().refine((text) => isId('wks', text), 'must be the id of a workspace'))
          .min(1)
          .max(1_000),
      ],
      { error: 'must be "all", or a list of the ids of workspaces' },
    )
    .optional()
    .meta({ description: 'Who may use it; left out, the first workspace of the service alone.' }),
  check: name.optional().meta({
    description:
      'An operation that is readOnly and requires no parameter: it is called every few minutes to tell whether the service is well. Left out, a connection is opened and nothing is sent.',
  }),
  operations: z.array(operation).min(1).max(100),
});

export const connectorsFile = z.strictObject({
  $schema: z.string().optional(),
  connectors: z.array(connector).max(50),
});

type ConnectorsContent = z.output<typeof connectorsFile>;
export type ConnectorContent = ConnectorsContent['connectors'][number];
export type OperationContent = ConnectorContent['operations'][number];
export type UndoContent = NonNullable<OperationContent['undo']>;

/** For docs/reference and for editors that complete and check the file. */
export function connectorsJsonSchema(): object {
  const schema = z.toJSONSchema(connectorsFile, { io: 'input', target: 'draft-2020-12' });
  return { ...schema, title: 'Connectors of Consigliere (CONNECTORS_FILE)' };
}
