import { z } from 'zod';
import type { Fault } from '../../platform/kernel/define-error.js';
import { packVersion, schemaFaults, SLUG } from './pack-manifest.js';
import type { PublisherKeys } from './publisher-keys.js';

/** What one publisher revokes; of two lists of a publisher the one with the higher number holds. */
const listSchema = z.strictObject({
  publisher: z.string().regex(SLUG),
  number: z.int().min(1),
  revoked: z
    .array(
      z.strictObject({
        name: z.string().regex(SLUG),
        /** Left out: every version. */
        versions: z.array(packVersion).min(1).max(100).optional(),
        /** Why, for those who installed it. */
        reason: z.string().min(1).max(500),
      }),
    )
    .max(1_000),
});

const signedList = z.strictObject({ list: listSchema, signature: z.string() });
const fileSchema = z.union([signedList, z.array(signedList).max(50)]);

/** A file that cannot be used; the message is for whoever configured it. */
export class ListUnusable extends Error {
  override readonly name = 'ListUnusable';
}

export type RevocationList = z.output<typeof listSchema>;

/** What is wrong with a list that a publisher is about to sign. */
export function listFaults(list: unknown): Fault[] {
  const parsed = listSchema.safeParse(list);
  return parsed.success ? [] : schemaFaults('list', parsed.error);
}

/** A pack, as lists mean it. */
export interface PackName {
  publisher: string;
  name: string;
  version: string;
}

/**
 * The lists of a file, which is one signed list or an array of them.
 * @throws ListUnusable
 */
export function readRevocations(text: string, keys: PublisherKeys): RevocationList[] {
  const parsed = fileSchema.safeParse(jsonOf(text));
  if (!parsed.success) {
    const [fault] = schemaFaults('file', parsed.error);
    throw new ListUnusable(`it is no signed list of revocations: ${fault!.message}`);
  }
  const signed = [parsed.data].flat();
  for (const { list, signature } of signed) {
    if (keys.hasSigned(list.publisher, list, signature)) continue;
    throw new ListUnusable(
      keys.knows(list.publisher)
        ? `the signature of the list of ${list.publisher} does not match`
        : `${list.publisher} is not one of SKILL_PACK_PUBLISHERS`,
    );
  }
  return signed.map(({ list }) => list);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ListUnusable('it is not JSON', { cause });
  }
}

/** Of each publisher the list with the highest number, whichever file had it. */
export function newestLists(
  known: readonly RevocationList[],
  read: readonly RevocationList[],
): RevocationList[] {
  const newest = new Map<string, RevocationList>();
  for (const list of [...known, ...read]) {
    const other = newest.get(list.publisher);
    if (!other || list.number >= other.number) newest.set(list.publisher, list);
  }
  return [...newest.values()];
}

/** Why its publisher revokes this version of a pack; undefined when it does not. */
export function revocationOf(
  lists: readonly RevocationList[],
  { publisher, name, version }: PackName,
): string | undefined {
  return lists
    .filter((list) => list.publisher === publisher)
    .flatMap(({ revoked }) => revoked)
    .find((one) => one.name === name && (one.versions?.includes(version) ?? true))?.reason;
}
