import { z } from 'zod';
import { canonicalJson } from '../../platform/kernel/canonical-json.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { CONTROL_IN_TEXT } from '../../platform/kernel/text.js';
import { packVersion, schemaFaults, slug } from './pack-manifest.js';
import type { PublisherKeys } from './publisher-keys.js';

/** What one publisher revokes; of two lists of a publisher the one with the higher number holds. */
const listSchema = z.strictObject({
  publisher: slug,
  number: z.int().min(1),
  revoked: z
    .array(
      z.strictObject({
        name: slug,
        /** Left out: every version. */
        versions: z.array(packVersion).min(1).max(100).optional(),
        /** Why, for those who installed it. */
        reason: z
          .string()
          .min(1)
          .max(500)
          .refine((text) => text.isWellFormed() && !CONTROL_IN_TEXT.test(text), {
            error: 'must not contain control characters',
          }),
      }),
    )
    .max(1_000),
});

const signedList = z.strictObject({ list: listSchema, signature: z.string() });
const MAX_LISTS = 50;

/** A file that cannot be used; the message is for the operator. */
export class ListUnusable extends Error {
  override readonly name = 'ListUnusable';
}

export type RevocationList = z.output<typeof listSchema>;

/** A list whose signature counts here, with the key that signed it. */
export interface SignedList {
  list: RevocationList;
  publicKey: string;
}

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
 * The lists of a file, which is one signed list or an array of them, and why any others do not count: a list that cannot be used
 * takes nothing from those beside it.
 * @throws ListUnusable for a file that has no list at all
 */
export function readRevocations(
  text: string,
  keys: PublisherKeys,
): { lists: SignedList[]; complaints: string[] } {
  const entries = [jsonOf(text)].flat();
  if (entries.length > MAX_LISTS) throw new ListUnusable(`it has more than ${MAX_LISTS} lists`);
  const read = entries.map((entry, index) => readEntry(entry, index + 1, keys));
  if (read.length > 0 && read.every((one) => 'fault' in one)) {
    throw new ListUnusable(`it is no signed list of revocations: ${read[0]!.fault}`);
  }
  return {
    lists: read.flatMap((one) => ('list' in one ? one : [])),
    complaints: read.flatMap((one) => {
      if ('fault' in one) return `${one.fault} (list ${one.position})`;
      return 'complaint' in one ? one.complaint : [];
    }),
  };
}

function readEntry(
  entry: unknown,
  position: number,
  keys: PublisherKeys,
): SignedList | { complaint: string } | { fault: string; position: number } {
  const parsed = signedList.safeParse(entry);
  if (!parsed.success) return { fault: schemaFaults('file', parsed.error)[0]!.message, position };
  const { list, signature } = parsed.data;
  const publicKey = keys.signerOf(list.publisher, list, signature);
  if (publicKey !== undefined) return { list, publicKey };
  return {
    complaint: keys.knows(list.publisher)
      ? `the signature of the list of ${list.publisher} does not match`
      : `${list.publisher} is not one of SKILL_PACK_PUBLISHERS`,
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ListUnusable('it is not JSON', { cause });
  }
}

/** Of each publisher the list with the highest number; of two with one number the first. */
export function newestLists(lists: readonly SignedList[]): SignedList[] {
  const newest = new Map<string, SignedList>();
  for (const signed of lists) {
    const other = newest.get(signed.list.publisher);
    if (!other || signed.list.number > other.list.number) newest.set(signed.list.publisher, signed);
  }
  return [...newest.values()];
}

/** Which of these lists have the number of one that is known and say something else: a change takes a higher number. */
export function contradictions(known: readonly SignedList[], read: readonly SignedList[]): string[] {
  return read.flatMap(({ list }) => {
    const other = known.find(
      (one) => one.list.publisher === list.publisher && one.list.number === list.number,
    );
    if (!other || canonicalJson(other.list) === canonicalJson(list)) return [];
    return `list ${list.number} of ${list.publisher} says something else than the list ${list.number} that is known: a change takes a higher number`;
  });
}

/** Why its publisher revokes this version of a pack; undefined when it does not. */
export function revocationOf(
  lists: readonly SignedList[],
  { publisher, name, version }: PackName,
): string | undefined {
  return lists
    .filter(({ list }) => list.publisher === publisher)
    .flatMap(({ list }) => list.revoked)
    .find((one) => one.name === name && (one.versions?.includes(version) ?? true))?.reason;
}
