import { z } from 'zod';
import type { Fault } from '../../platform/kernel/define-error.js';
import { REVERSIBILITIES, RISKS, type Priority, type Reversibility, type Risk } from '../terms/terms.js';
import { DirectiveCreate, DocumentFile, EmailSend, RevenueRecord, SignalRaise } from './action-params.js';
import { ENGINES, type Engine } from './capo.js';
import { StandingOrderPropose } from './proposed-order.js';

/**
 * The trusted registry of what a capo can do (CONTRACT.md, "Action types"). Scope, reversibility and undo are read
 * from here and from nowhere else: a model may word a packet, it can't choose how dangerous the packet is.
 */

export type PacketKind = 'document' | 'message' | 'call' | 'signal' | 'delegation' | 'record' | 'proposal';

export interface Compensation {
  type: string;
  params: Record<string, unknown>;
}

/** What the execution of a packet answered: the ids by which it can be undone. */
export type ActionResult = Readonly<Record<string, unknown>>;

export interface ActionType<Params> {
  /** One sentence for a person who reads the registry, and for a model that chooses from it. */
  effect: string;
  engines: readonly Engine[];
  kind: PacketKind;
  reversibility: Reversibility;
  /** Base of `leverageScore`: how much one such work packet usually changes for the business. */
  baseScore: number;
  params: z.ZodType<Params> & { shape: object };
  /**
   * Whom or what it reaches, read from the params: orders decide by it, so no draft may word it. Null where a draft
   * still lacks it.
   */
  target(params: Partial<NoInfer<Params>>): string | null;
  compensate(params: NoInfer<Params>, result: ActionResult): Compensation | null;
}

const define = <Params>(type: ActionType<Params>): ActionType<Params> => type;

/** Names the undo before execution (no id yet, empty params) and aims it afterwards. */
const undo = (type: string, id: string) => (_params: unknown, result: ActionResult) => ({
  type,
  params: result[id] === undefined ? {} : { [id]: result[id] },
});

export const ACTION_TYPES = {
  'document.file': define({
    effect: 'Files the output as a document of the workspace.',
    engines: ENGINES,
    kind: 'document',
    reversibility: 'reversible',
    baseScore: 1,
    params: DocumentFile,
    target: ({ title }) => title || null,
    compensate: undo('document.withdraw', 'documentId'),
  }),
  'signal.raise': define({
    effect: 'Raises a signal in the workspace.',
    engines: ENGINES,
    kind: 'signal',
    reversibility: 'reversible',
    baseScore: 1.5,
    params: SignalRaise,
    target: ({ type }) => type || null,
    compensate: undo('signal.withdraw', 'signalId'),
  }),
  'email.send': define({
    effect: 'Sends a mail to people outside. It cannot be taken back.',
    engines: ['marketing', 'revenue', 'ops'],
    kind: 'message',
    reversibility: 'irreversible',
    baseScore: 3,
    params: EmailSend,
    target: ({ to, cc }) => [...(to ?? []), ...(cc ?? [])].join(', ') || null,
    compensate: () => null,
  }),
  'revenue.record': define({
    effect: 'Records a revenue event in the ledger.',
    engines: ['revenue'],
    kind: 'record',
    reversibility: 'reversible',
    baseScore: 2,
    params: RevenueRecord,
    target: ({ source }) => source || null,
    compensate: undo('revenue.reverse', 'eventId'),
  }),
  'directive.create': define({
    effect: 'Hands a directive to another capo.',
    engines: ['executive'],
    kind: 'delegation',
    reversibility: 'reversible',
    baseScore: 2.5,
    params: DirectiveCreate,
    target: ({ capo }) => capo || null,
    compensate: undo('directive.cancel', 'directiveId'),
  }),
  'standing_order.propose': define({
    effect: 'Drafts a standing order. It decides nothing until a person activates it.',
    engines: ['executive'],
    kind: 'proposal',
    reversibility: 'reversible',
    baseScore: 2,
    params: StandingOrderPropose,
    target: ({ name }) => name || null,
    compensate: undo('standing_order.archive', 'standingOrderId'),
  }),
} as const;

export type ActionTypeName = keyof typeof ACTION_TYPES;
export type ParamsOf<T extends ActionTypeName> = z.infer<(typeof ACTION_TYPES)[T]['params']>;
/** An action whose params belong to its type: narrowing on `type` narrows `params`. */
export type Action = { [T in ActionTypeName]: { type: T; params: ParamsOf<T> } }[ActionTypeName];

export type Validation = { ok: true; action: Action } | { ok: false; faults: Fault[] };

export const ACTION_TYPE_NAMES = Object.keys(ACTION_TYPES) as ActionTypeName[];

export function isActionType(type: unknown): type is ActionTypeName {
  return typeof type === 'string' && Object.hasOwn(ACTION_TYPES, type);
}

export function actionTypesOf(engine: Engine): ActionTypeName[] {
  return ACTION_TYPE_NAMES.filter((type) => ACTION_TYPES[type].engines.includes(engine));
}

function inScope(engine: Engine, type: ActionTypeName): boolean {
  return ACTION_TYPES[type].engines.includes(engine);
}

/**
 * Either the action with checked params, or every fault at once. A type outside the engine's scope is a fault.
 * @param lacking what a draft still lacks, such as `params.to`: a fault at exactly such a path is forgiven, so whoever
 * reads the action must cope with nothing being there. What is sent is validated without it.
 */
export function validateAction(
  engine: Engine,
  type: string,
  params: unknown,
  { lacking = [] }: { lacking?: readonly string[] } = {},
): Validation {
  if (!isActionType(type)) {
    return { ok: false, faults: [{ path: 'type', rule: 'known', message: 'is not an action type' }] };
  }
  if (!inScope(engine, type)) {
    const message = `is outside the scope of the ${engine} engine`;
    return { ok: false, faults: [{ path: 'type', rule: 'scope', message }] };
  }
  const parsed = ACTION_TYPES[type].params.safeParse(params);
  // The registry pairs each type with its schema; TypeScript can't follow that pairing through a union of keys.
  if (parsed.success) return { ok: true, action: { type, params: parsed.data } as Action };
  const faults = parsed.error.issues
    .flatMap((issue) => faultsOf(issue))
    .filter(({ path }) => !(lacking.includes(path) && isEmpty(valueAt(params, path))));
  return faults.length === 0 ? { ok: true, action: { type, params } as Action } : { ok: false, faults };
}

/** What stands in `params` at a path such as `params.to`; undefined where nothing does. */
export function valueAt(params: unknown, path: string): unknown {
  const [, ...keys] = path.split('.');
  return keys.reduce<unknown>(
    (value, key) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    params,
  );
}

/** The parameters of an action type that a draft may say it lacks, as paths. */
export function parametersOf(type: ActionTypeName): string[] {
  return Object.keys(ACTION_TYPES[type].params.shape).map((name) => `params.${name}`);
}

/** Lacking is not the same as wrong: a person is asked for what is not there, and told of what is wrong. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const path = ['params', ...issue.path].map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: `${path}.${key}`,
      rule: 'unknown',
      message: 'is not a parameter',
    }));
  }
  return [{ path, rule: issue.code, message: issue.message }];
}

/** The undo of a packet: without `result` the kind of undo, with it the undo of that very execution. */
export function compensationOf(action: Action, result: ActionResult = {}): Compensation | null {
  const type = ACTION_TYPES[action.type] as ActionType<unknown>;
  return type.compensate(action.params, result);
}

/** `leverageScore` is `base` times the product of `multipliers` (CONTRACT.md, Work packet). */
export function leverageOf(type: ActionTypeName, multipliers: Readonly<Record<string, number>>): number {
  const product = Object.values(multipliers).reduce((score, factor) => score * factor, 1);
  return Math.round(ACTION_TYPES[type].baseScore * product * 1000) / 1000;
}

/** A chain of packets is as final as its most final one; no packet at all changes nothing. */
export function highestReversibility(list: readonly Reversibility[]): Reversibility {
  return REVERSIBILITIES[Math.max(0, ...list.map((each) => REVERSIBILITIES.indexOf(each)))] ?? 'read_only';
}

export interface Exposure {
  reversibility: Reversibility;
  priority: Priority;
  /** People who receive something. */
  recipients?: number;
  /** Money that moves, in its own currency: the thresholds are orders of magnitude, not exchange rates. */
  amount?: number;
}

/**
 * What can't simply be taken back starts at medium. Haste, a wide audience and large sums each raise it: haste only
 * for what is final, since a hurried note in a drawer harms nobody.
 */
export function riskOf({ reversibility, priority, recipients = 0, amount = 0 }: Exposure): Risk {
  if (reversibility === 'read_only') return 'low';
  const final = reversibility !== 'reversible';
  const haste = final && priority === 'high' ? 1 : 0;
  const audience = recipients > 50 ? 2 : recipients > 10 ? 1 : 0;
  const sum = amount >= 100_000 ? 2 : amount >= 10_000 ? 1 : 0;
  return RISKS[Math.min(3, (final ? 1 : 0) + haste + audience + sum)] ?? 'critical';
}
