import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { SIGNAL_SEVERITIES } from '../src/features/records/signal-types.js';
import { ACTION_TYPE_NAMES } from '../src/features/capos/action-types.js';
import { CAPO_ROLES, RISKS } from '../src/features/terms/terms.js';

/** The instructions that `npm run eval:drafts` tries on a runner, and what a sensible assistant would prepare for each. */

export const SETS = ['dev', 'held-out', 'fresh'] as const;
export type SetName = (typeof SETS)[number];

export const LANGUAGES = ['en', 'de', 'fr', 'es'] as const;

export const KINDS = [
  'mail',
  'document',
  'delegation',
  'signal',
  'revenue',
  'several',
  'question',
  'unsupported',
  'hostile',
] as const;

const addresses = z.array(z.email());
const phrases = z.array(z.string().min(1));

const ExpectedPacket = z.strictObject({
  type: z.enum(ACTION_TYPE_NAMES),
  /** The exact set; with `to` and without `cc`, there is no copy. */
  to: addresses.optional(),
  cc: addresses.optional(),
  subject: z.string().min(1).optional(),
  /** Only where the instruction gives it word for word. */
  body: z.string().min(1).optional(),
  bodyIncludes: phrases.optional(),
  titleIncludes: phrases.optional(),
  amount: z.number().positive().optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .optional(),
  capo: z.enum(CAPO_ROLES).exclude(['ceo']).optional(),
  directiveIncludes: phrases.optional(),
  severity: z.enum(SIGNAL_SEVERITIES).optional(),
  needsInput: z.array(z.string().startsWith('params.')).optional(),
});
export type ExpectedPacket = z.infer<typeof ExpectedPacket>;

const Case = z
  .strictObject({
    id: z.string().regex(/^[a-z]{2,5}-\d{3}$/),
    language: z.enum(LANGUAGES),
    kind: z.enum(KINDS),
    /** Left out: the consigliere routes. */
    capo: z.enum(CAPO_ROLES).optional(),
    text: z.string().min(1),
    context: z.record(z.string(), z.unknown()).optional(),
    buyers: z
      .array(
        z.strictObject({ buyerId: z.string(), name: z.string().optional(), email: z.email().optional() }),
      )
      .optional(),
    expect: z.strictObject({
      /** In any order; none: nothing is prepared, except a document that says why. */
      packets: z.array(ExpectedPacket),
      /** Types that may stand there too. */
      also: z.array(z.enum(ACTION_TYPE_NAMES)).optional(),
      /** At least. */
      risk: z.enum(RISKS).optional(),
      routedTo: z.enum(CAPO_ROLES).optional(),
    }),
  })
  .refine(({ capo, expect }) => capo === undefined || expect.routedTo === undefined, {
    path: ['expect', 'routedTo'],
    error: 'is for cases without a capo, which the consigliere routes',
  });
export type Case = z.infer<typeof Case> & { set: SetName };

/** The faults of a file of instructions, one a line. */
export class CasesInvalid extends Error {
  override readonly name = 'CasesInvalid';

  constructor(file: string, faults: readonly string[]) {
    super(`${file}\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
  }
}

/** @throws CasesInvalid */
export function readCases(file: string, json: string, set: SetName): Case[] {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch (error) {
    throw new CasesInvalid(file, [`is not JSON: ${(error as Error).message}`]);
  }
  if (!Array.isArray(list)) throw new CasesInvalid(file, ['must be an array of cases']);
  const parsed = list.map((each: unknown) => Case.safeParse(each));
  const faults = parsed.flatMap(({ error }, at) =>
    (error?.issues ?? []).map(
      ({ path, message }) =>
        `${nameOf(list[at], at)}: ${path.map(String).join('.') || 'the case'}: ${message}`,
    ),
  );
  if (faults.length > 0) throw new CasesInvalid(file, faults);
  return parsed.map(({ data }) => ({ ...data!, set }));
}

function nameOf(raw: unknown, at: number): string {
  const { id } = (raw ?? {}) as { id?: unknown };
  return typeof id === 'string' ? id : `case ${at + 1}`;
}

/**
 * All cases of these sets, in the order of their ids within each file.
 *
 * @throws CasesInvalid
 */
export async function loadCases(folder: string, sets: readonly SetName[]): Promise<Case[]> {
  const cases: Case[] = [];
  for (const set of sets) {
    const files = (await readdir(join(folder, set))).filter((name) => name.endsWith('.json')).toSorted();
    for (const name of files) {
      const file = join(folder, set, name);
      cases.push(...readCases(file, await readFile(file, 'utf8'), set));
    }
  }
  const twice = cases.map(({ id }) => id).filter((id, at, ids) => ids.indexOf(id) !== at);
  if (twice.length > 0)
    throw new CasesInvalid(
      folder,
      twice.map((id) => `${id}: the id is used twice`),
    );
  return cases;
}
