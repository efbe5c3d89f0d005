import { z } from 'zod';
import type { Fault } from '../../platform/kernel/define-error.js';
import { type Priority, REVERSIBILITIES, type Reversibility, type Risk, RISKS } from '../terms/terms.js';
import {
  DirectiveCreate,
  DocumentFile,
  EmailSend,
  HttpCall,
  RevenueRecord,
  SignalRaise,
  WebhookPost,
} from './action-params.js';
import { type Engine, ENGINES } from './capo.js';
import { StandingOrderPropose } from './proposed-order.js';
import {
  bindCall,
  bindPost,
  destinationIn,
  HTTP_UNDO,
  NO_TARGETS,
  OURS,
  type OutsideTargets,
} from './outside-targets.js';

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

/** An action type as it is written below. */
interface DeclaredType<Params> {
  /** One sentence for a person who reads the registry, and for a model that chooses from it. */
  effect: string;
  engines: readonly Engine[];
  kind: PacketKind;
  /** The class of its work packets; the strictest where it depends on what they reach. */
  reversibility: Reversibility;
  /** Every class that they may have; left out: that one. */
  classes?: readonly Reversibility[];
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

export interface ActionType<Params> extends DeclaredType<Params> {
  classes: readonly Reversibility[];
}

const define = <Params>(type: DeclaredType<Params>): ActionType<Params> => ({
  classes: [type.reversibility],
  ...type,
});

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
  'webhook.post': define({
    effect: 'Posts a signed event to a registered webhook destination. It cannot be taken back.',
    engines: ['revenue', 'ops', 'product'],
    kind: 'message',
    reversibility: 'irreversible',
    baseScore: 2,
    params: WebhookPost,
    target: destinationIn,
    compensate: () => null,
  }),
  'http.call': define({
    effect:
      'Calls an operation of a connector that the operator configured; it says itself how it is undone.',
    engines: ['ops', 'product'],
    kind: 'call',
    // An operation that changes something, or one that only reads; which of them it is says the operator's file.
    reversibility: 'externally_reversible',
    classes: ['externally_reversible', 'read_only'],
    baseScore: 2,
    params: HttpCall,
    target: ({ request, connector, operation }) =>
      request || (connector && operation ? `${operation} of ${connector}` : null),
    compensate: (_params, { undo: found }) =>
      typeof found === 'object' && found !== null ? { type: HTTP_UNDO, params: { ...found } } : null,
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

/** A valid action, how far it can be undone and by what: the registry's answers, or those of what it reaches outside. */
export interface ValidAction {
  ok: true;
  action: Action;
  reversibility: Reversibility;
  compensation: Compensation | null;
}

export type Validation = ValidAction | { ok: false; faults: Fault[] };

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
 * @param lacking what a draft still lacks, such as `params.to`: a fault there is forgiven where nothing is there, so
 * readers of the action must cope with that. Validation before sending does not use it.
 * @param targets what the workspace reaches outside; without them nothing outside but mail can be reached
 */
export function validateAction(
  engine: Engine,
  type: string,
  params: unknown,
  { lacking = [], targets = NO_TARGETS }: { lacking?: readonly string[]; targets?: OutsideTargets } = {},
): Validation {
  if (!isActionType(type)) {
    return { ok: false, faults: [{ path: 'type', rule: 'known', message: 'is not an action type' }] };
  }
  if (!inScope(engine, type)) {
    const message = `is outside the scope of the ${engine} engine`;
    return { ok: false, faults: [{ path: 'type', rule: 'scope', message }] };
  }
  const isOpen = (path: string) =>
    lacking.some((open) => (path === open || path.startsWith(`${open}.`)) && isEmpty(valueAt(params, open)));
  const parsed = ACTION_TYPES[type].params.safeParse(params);
  const faults = parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) => faultsOf(issue, params)).filter(({ path }) => !isOpen(path));
  if (faults.length > 0) return { ok: false, faults };
  return bound(type, (parsed.success ? parsed.data : params) as Record<string, unknown>, targets, isOpen);
}

function bound(
  type: ActionTypeName,
  params: Record<string, unknown>,
  targets: OutsideTargets,
  isOpen: (path: string) => boolean,
): Validation {
  // The registry pairs each type with its schema; TypeScript can't follow that pairing through a union of keys.
  const actionWith = (checked: Record<string, unknown>) => ({ type, params: checked }) as unknown as Action;
  if (type !== 'webhook.post' && type !== 'http.call') {
    const action = actionWith(params);
    const { reversibility } = ACTION_TYPES[type];
    return { ok: true, action, reversibility, compensation: compensationOf(action) };
  }
  const binding = (type === 'webhook.post' ? bindPost : bindCall)(params, targets, isOpen);
  if (!binding.ok) return binding;
  const { reversibility, compensation } = binding;
  return { ok: true, action: actionWith(binding.params), reversibility, compensation };
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
  const ours = OURS[type] ?? [];
  return Object.keys(ACTION_TYPES[type].params.shape)
    .filter((name) => !ours.includes(name))
    .map((name) => `params.${name}`);
}

/** Whether an action of this type may do without the parameter at these keys. */
export function isOptionalParameter(type: string, [name, ...within]: readonly string[]): boolean {
  if (!isActionType(type) || within.length > 0) return false;
  const shape = ACTION_TYPES[type].params.shape as Record<string, z.ZodType>;
  return Object.hasOwn(shape, name!) && shape[name!]!.safeParse(undefined).success;
}

/** Lacking is not the same as wrong: a person is asked for what is not there, and told of what is wrong. */
function isEmpty(value: unknown): boolean {
  if (typeof value === 'string') return value.trim() === '';
  return (
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  );
}

function faultsOf(issue: z.core.$ZodIssue, params: unknown): Fault[] {
  const path = ['params', ...issue.path].map(String).join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      path: `${path}.${key}`,
      rule: 'unknown',
      message: 'is not a parameter',
    }));
  }
  if (issue.code === 'invalid_type' && issue.path.length > 0 && valueAt(params, path) === undefined) {
    return [{ path, rule: 'missing', message: 'is missing: give all parameters of the work packet' }];
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
