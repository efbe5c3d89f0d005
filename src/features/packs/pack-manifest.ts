import { z } from 'zod';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { NOT_BLANK } from '../../platform/kernel/plain-text.js';
import { CONTROL_IN_TEXT, cutText } from '../../platform/kernel/text.js';

/** Of the manifest as JSON; the body of a request is larger by its signature only. */
export const MAX_MANIFEST_BYTES = 256 * 1024;
const MAX_SKILLS = 50;
const MAX_ORDERS = 50;

/** How packs, publishers, skills and the orders of a pack are named. */
export const SLUG = /^(?=.{1,64}$)[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const VERSION = /^(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})\.(0|[1-9]\d{0,5})$/;

export const slug = z
  .string({ error: 'must be text' })
  .regex(SLUG, 'must be 1 to 64 lower-case letters and digits in words with single hyphens between');

export const packVersion = z
  .string({ error: 'must be text' })
  .regex(VERSION, 'must be three numbers with dots between, such as 1.2.0');

const unique = <T>(list: readonly T[], name: (one: T) => unknown) =>
  new Set(list.map(name)).size === list.length;

/** An order is a body of `POST /standing-orders` and the key by which later versions of the pack mean the same one. */
const order = z
  .looseObject({ key: slug }, { error: 'must be an object' })
  .refine((value) => !('teamId' in value), {
    error: 'must name no team: the orders of a pack arrive for the whole workspace',
  });

const skill = z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** Checks that need more than the manifest, such as whether an order could ever apply, are elsewhere. */
export const manifestSchema = z
  .strictObject({
    name: slug,
    version: packVersion,
    publisher: slug,
    description: z
      .string({ error: 'must be text' })
      .refine(...NOT_BLANK)
      .max(1_000, 'must have at most 1,000 characters')
      .refine((text) => !CONTROL_IN_TEXT.test(text), 'must not contain control characters'),
    skills: z
      .array(skill, { error: 'must be a list' })
      .max(MAX_SKILLS, `must have at most ${MAX_SKILLS} skills`)
      .refine((skills) => unique(skills, ({ name }) => name), 'must have each name once'),
    standingOrders: z
      .array(order, { error: 'must be a list' })
      .max(MAX_ORDERS, `must have at most ${MAX_ORDERS} standing orders`)
      .refine((orders) => unique(orders, ({ key }) => key), 'must have each key once'),
  })
  .refine(({ skills, standingOrders }) => skills.length + standingOrders.length > 0, {
    path: ['skills'],
    error: 'or standingOrders must have at least one entry',
  });

export type PackManifest = z.output<typeof manifestSchema>;
export type PackOrder = PackManifest['standingOrders'][number];

/** A skill once its definition has passed the rules of the evals. */
export interface PackSkill {
  name: string;
  description?: string;
  instructions?: string;
  schemaVersion: number;
  capo: string;
  inputs: Record<string, unknown>;
  outputs: Record<string, unknown>;
}

/** What a schema has against a value, each with where it stands: `manifest.skills.2.name`. */
export function schemaFaults(root: string, { issues }: z.core.$ZodError): Fault[] {
  return issues.flatMap((issue): Fault[] => {
    const path = [root, ...issue.path.map(String)].join('.');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({
        path: `${path}.${cutText(key, 80)}`,
        rule: 'unknownProperty',
        message: `${cutText(key, 80)} is not a known property`,
      }));
    }
    return [{ path, rule: issue.code, message: `${path} ${issue.message}` }];
  });
}

/** Less than zero: `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split('.').map(Number)) as [number[], number[]];
  return left.map((part, index) => part - right[index]!).find((difference) => difference !== 0) ?? 0;
}

/** By which a manifest, or an order of it, is found to say the same as another. */
export function contentHash(content: unknown): string {
  return sha256(canonicalJson(content));
}

/** Two names with one key are easily taken for each other: `invoice-reminders`, `lnvoicereminders`, `invoice-rerninders`. */
export function lookAlikeKey(name: string): string {
  return name
    .replaceAll('-', '')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replace(/[01l58]/g, (letter) => ({ '0': 'o', '1': 'i', l: 'i', '5': 's', '8': 'b' })[letter]!);
}

/** The part of an order of a pack that is a body of `POST /standing-orders`. */
export function bodyOfOrder({ key: _key, ...body }: PackOrder): object {
  return body;
}
