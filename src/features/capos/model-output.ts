import type { JSONSchema7 } from 'ai';
import { z } from 'zod';
import type { Fault } from '../../platform/kernel/define-error.js';
import { NOT_BLANK } from '../../platform/kernel/plain-text.js';
import { hasUnseen } from '../../platform/kernel/unseen.js';
import { LIMITS } from './action-params.js';
import {
  ACTION_TYPES,
  actionTypesOf,
  isActionType,
  parametersOf,
  validateAction,
  type ActionTypeName,
} from './action-types.js';
import type { DraftContent, DraftPacket, NeededInput } from './briefing.js';
import { checkDraftBounds, DRAFT_BOUNDS, DraftTooLarge } from './draft-bounds.js';
import type { Engine } from './capo.js';
import { outsideForms, readOutside } from './model-targets.js';
import { NO_TARGETS, OUTSIDE_TYPES, type OutsideTargets, withoutOurs } from './outside-targets.js';
import type { Reading } from './model-client.js';
import { MUST_BE_SEEN, unseenFaults } from './content-checks.js';

/**
 * The shape in which a model answers, and the way from its answer to a draft. The shape only helps the model along;
 * what counts is the validation behind it, because a provider may ignore a schema and a model may be talked into
 * anything. Reversibility, compensation and scope are not part of the shape: the registry alone knows them.
 */

/** C0 except tab and line breaks, DEL, C1: they have no business in a text and the database refuses NUL. */
// oxlint-disable-next-line no-control-regex -- removing control characters is the purpose
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
const cleaned = (text: string) => text.toWellFormed().replace(CONTROL, '');
const text = (max: number) =>
  z
    .string()
    .max(max)
    .transform(cleaned)
    .refine(...NOT_BLANK)
    .refine((value) => !hasUnseen(value), MUST_BE_SEEN);
/** One line without control characters, as a model's sentences are kept. */
export const line = (max: number) => text(max).transform((value) => value.replace(/\s+/g, ' ').trim());

const Multipliers = z
  .array(
    z.object({
      name: z
        .string()
        .regex(
          /^[a-z][\w -]{0,39}$/i,
          'must begin with a letter and have at most 40 letters, digits, spaces, _ and -',
        ),
      value: z.number().min(0.1).max(10),
    }),
  )
  .max(DRAFT_BOUNDS.multipliers)
  .transform((list) => Object.fromEntries(list.map(({ name, value }) => [name, value])));

/** More than this is no draft any more. */
const MAX_NEEDED = 10;

/** Its parameters say whom an action reaches, so a model may leave this empty, or out. */
const Target = z
  .string()
  .max(DRAFT_BOUNDS.target)
  .nullish()
  .transform((value) =>
    cleaned(value ?? '')
      .replace(/\s+/g, ' ')
      .trim(),
  )
  .refine((value) => !hasUnseen(value), MUST_BE_SEEN);

/** Unknown keys are dropped rather than refused: a model that adds `reversibility` has not said anything. */
const Answer = z.object({
  summary: line(DRAFT_BOUNDS.remarks),
  packets: z
    .array(
      z.object({
        title: line(LIMITS.title),
        type: z.string().max(100),
        target: Target,
        params: z.record(z.string(), z.unknown()),
        rationale: line(DRAFT_BOUNDS.rationale),
        multipliers: Multipliers,
        needsInput: z
          .array(z.object({ path: z.string().max(100), message: line(DRAFT_BOUNDS.reason) }))
          .max(MAX_NEEDED)
          .default([]),
      }),
    )
    .min(1)
    .max(DRAFT_BOUNDS.packets),
});

/** What is wrong with the shape of an answer, in words that the model is told. */
export function faultsOfAnswer({ issues }: z.ZodError): Fault[] {
  return issues.map(({ path, code, message }) => ({ path: path.map(String).join('.'), rule: code, message }));
}

/** A draft whose every packet the registry accepts for this engine, or all the faults. */
export function readAnswer(
  engine: Engine,
  answer: unknown,
  targets: OutsideTargets = NO_TARGETS,
): Reading<DraftContent> {
  const parsed = Answer.safeParse(answer);
  if (!parsed.success) return { ok: false, faults: faultsOfAnswer(parsed.error) };
  const faults: Fault[] = [];
  const packets: DraftPacket[] = [];
  for (const [at, packet] of parsed.data.packets.entries()) {
    const params = isActionType(packet.type) ? withoutNulls(packet.type, packet.params) : packet.params;
    const lacking = packet.needsInput.map(({ path }) => path);
    const checked = validateAction(engine, packet.type, params, { lacking, targets });
    const found = [
      ...(checked.ok ? unseenFaults(checked.action.params, 'params') : checked.faults),
      ...unknownPlaces(packet.type, packet.needsInput),
    ];
    // What we add to it is no model's, so nobody looks there for what a model has invented.
    if (checked.ok && found.length === 0)
      packets.push({ ...packet, params: withoutOurs(packet.type, checked.action.params) });
    else faults.push(...found.map((fault) => ({ ...fault, path: `packets.${at}.${fault.path}` })));
  }
  if (faults.length > 0) return { ok: false, faults };
  const draft = { remarks: parsed.data.summary, packets, concerns: [] };
  try {
    checkDraftBounds(draft);
  } catch (error) {
    if (!(error instanceof DraftTooLarge)) throw error;
    return { ok: false, faults: [{ path: '', rule: 'size', message: error.message }] };
  }
  return { ok: true, answer: draft };
}

/** What nobody could ever supply, since the action has no such parameter. */
function unknownPlaces(type: string, needsInput: readonly NeededInput[]): Fault[] {
  const known = isActionType(type) ? parametersOf(type) : [];
  return needsInput.flatMap(({ path }, at) =>
    known.some((name) => path === name || (isInside(type) && path.startsWith(`${name}.`)))
      ? []
      : [{ path: `needsInput.${at}.path`, rule: 'known', message: `must be one of ${known.join(', ')}` }],
  );
}

/** Whether a part of a parameter can be lacking. */
function isInside(type: string): boolean {
  return OUTSIDE_TYPES.includes(type);
}

/**
 * Strict structured output knows no optional properties: a model says `null` where a person leaves the line out, and where
 * it does not know. An empty text is neither an amount nor a choice: it means the same there.
 */
function withoutNulls(
  type: ActionTypeName,
  params: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  if (OUTSIDE_TYPES.includes(type)) return readOutside(type, params);
  const { required = [], properties = {} } = paramsSchema(type);
  const emptyOf = (key: string) => {
    const property = properties[key];
    if (typeof property !== 'object' || property.enum !== undefined) return undefined;
    return { array: [], string: '' }[String(property.type)];
  };
  return Object.fromEntries(
    Object.entries(params).flatMap(([key, value]) => {
      const isKnown = Object.hasOwn(properties, key);
      const empty = isKnown ? emptyOf(key) : '';
      if (value !== null && (value !== '' || empty !== undefined)) return [[key, value]];
      return empty !== undefined && required.includes(key) ? [[key, empty]] : [];
    }),
  );
}

/** The JSON Schema of an answer, with only the action types of this engine in it that have something to reach. */
export function answerSchema(engine: Engine, targets: OutsideTargets = NO_TARGETS): JSONSchema7 {
  const string: JSONSchema7 = { type: 'string' };
  const packets = actionTypesOf(engine).flatMap((type) => {
    // Unknown values can be left out; needsInput asks for them.
    const forms = outsideForms(type, targets, strict) ?? [strict({ ...paramsSchema(type), required: [] })];
    return forms.map((params) =>
      object({
        type: { type: 'string', const: type },
        title: string,
        target: string,
        params,
        rationale: string,
        multipliers: { type: 'array', items: object({ name: string, value: { type: 'number' } }) },
        needsInput: { type: 'array', items: object({ path: string, message: string }) },
      }),
    );
  });
  return object({ summary: string, packets: { type: 'array', items: { anyOf: packets } } });
}

/** The types that have something to reach, one a line. */
export function describedTypes(engine: Engine, targets: OutsideTargets = NO_TARGETS): string {
  return actionTypesOf(engine)
    .filter((type) => outsideForms(type, targets, strict)?.length !== 0)
    .map((type) => `- ${type}: ${ACTION_TYPES[type].effect}`)
    .join('\n');
}

function paramsSchema(type: ActionTypeName): JSONSchema7 {
  // zod emits draft 2020-12; of the keywords that survive `strict` draft 7 has the same ones.
  const schema = z.toJSONSchema(ACTION_TYPES[type].params, { io: 'input' }) as JSONSchema7;
  // Where answers to a mail go is not a model's to say: withReplyTo.
  delete schema.properties?.['replyTo'];
  return schema;
}

/** The part of JSON Schema that every provider's strict mode accepts; bounds and formats are checked afterwards. */
function strict(schema: JSONSchema7): JSONSchema7 {
  if (schema.type === 'object') {
    const required = schema.required ?? [];
    const properties = Object.entries(schema.properties ?? {}).flatMap(([key, value]) => {
      if (typeof value === 'boolean') return [];
      const inner = strict(value);
      return [[key, required.includes(key) ? inner : { anyOf: [inner, { type: 'null' as const }] }] as const];
    });
    return object(Object.fromEntries(properties));
  }
  if (schema.type === 'array' && typeof schema.items === 'object' && !Array.isArray(schema.items)) {
    return { type: 'array', items: strict(schema.items) };
  }
  if (schema.anyOf) {
    const choices = schema.anyOf.filter((choice) => typeof choice === 'object');
    return { anyOf: choices.map((choice) => strict(choice)) };
  }
  return { type: schema.type, ...(schema.enum === undefined ? {} : { enum: schema.enum }) };
}

/** An object of which every property is there, as strict structured output wants it. */
export function object(properties: Record<string, JSONSchema7>): JSONSchema7 {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}
