import { z } from 'zod';
import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { NOT_BLANK } from '../../platform/kernel/plain-text.js';
import { CONTROL_IN_TEXT, cutText } from '../../platform/kernel/text.js';
import { nameFault } from '../../platform/kernel/visible-name.js';
import { unseenFaults } from '../capos/index.js';
import { SKILL_RULES, assess } from '../evals/index.js';

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

const skillForm = z.record(z.string(), z.unknown(), { error: 'must be an object' });

/** Checks that need more than the manifest, such as whether an order could ever apply, are elsewhere. */
const manifestSchema = z
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
      .array(skillForm, { error: 'must be a list' })
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

const MAX_ORDER_NAME = 120;

/** The manifest that this is, or why it is none; whether its orders could ever apply is looked at elsewhere. */
export function readManifest(
  raw: unknown,
): { manifest: PackManifest; faults: Fault[] } | { faults: Fault[] } {
  const parsed = manifestSchema.safeParse(raw);
  if (!parsed.success) return { faults: schemaFaults('manifest', parsed.error) };
  const { data: manifest } = parsed;
  const named = orderNameFaults(manifest);
  const unseen = unseenTextFaults(manifest).filter(({ path }) => !named.some((fault) => fault.path === path));
  return { manifest, faults: [...skillFaults(manifest), ...named, ...unseen] };
}

/** A skill that does not pass its eval can be read neither by a capo nor by a person. */
function skillFaults({ skills }: PackManifest): Fault[] {
  return skills.flatMap((skill, index) => {
    const { passed, findings } = assess(SKILL_RULES, skill);
    if (passed) return [];
    return findings
      .filter(({ severity }) => severity !== 'info')
      .map(({ ruleId: rule, path, message }) => inPart('skills', index, { path, rule, message }));
  });
}

/** A name that looks like another in a list of orders, or shows as nothing. */
function orderNameFaults({ standingOrders }: PackManifest): Fault[] {
  return standingOrders.flatMap(({ name }, index) => {
    const fault = typeof name === 'string' ? nameFault(name, MAX_ORDER_NAME) : undefined;
    if (fault === undefined) return [];
    return [
      inPart('standingOrders', index, { path: 'name', rule: 'isVisibleName', message: `name must ${fault}` }),
    ];
  });
}

/** Who installs a pack answers for what it says to people and to models, and so has to see all of it. */
function unseenTextFaults({ description, skills, standingOrders }: PackManifest): Fault[] {
  return unseenFaults({ description, skills, standingOrders }, 'manifest').map(({ path, rule, message }) => ({
    path,
    rule,
    message: `${path.slice(path.lastIndexOf('.') + 1)} ${message}`,
  }));
}

/** A fault of one skill or order, by where it stands in the manifest. */
export function inPart(
  list: 'skills' | 'standingOrders',
  index: number,
  { path, rule, message }: Fault,
): Fault {
  const part = `manifest.${list}.${index}`;
  return { path: path === '' ? part : `${part}.${path}`, rule, message };
}
