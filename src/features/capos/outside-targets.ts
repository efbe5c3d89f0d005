import type { Fault } from '../../platform/kernel/define-error.js';
import { amountOf, faultsOfArguments, type Operation, requestOf } from '../connectors/operation.js';
import type { Reversibility } from '../terms/terms.js';
import { destinationName, type DestinationTarget, targetInFull } from '../webhooks/destination-name.js';

/** What a workspace reaches outside besides mail; plain data without a secret. */
export interface OutsideTargets {
  destinations: readonly DestinationTarget[];
  operations: readonly Operation[];
}

export const NO_TARGETS: OutsideTargets = { destinations: [], operations: [] };

/** The action types that reach one of them. */
export const OUTSIDE_TYPES: readonly string[] = ['webhook.post', 'http.call'];

export function reachesOutside(types: readonly string[]): boolean {
  return types.some((type) => OUTSIDE_TYPES.includes(type));
}

/** The undo of a call, in the words of the registry. */
export const HTTP_UNDO = 'http.undo';

type Params = Readonly<Record<string, unknown>>;

/** An action with all that is known of what it reaches, or what is wrong with it. */
export type Binding =
  | {
      ok: true;
      params: Record<string, unknown>;
      reversibility: Reversibility;
      compensation: { type: string; params: Record<string, unknown> } | null;
    }
  | { ok: false; faults: Fault[] };

/** The parameters that only we write, by the action type. */
export const OURS: Readonly<Record<string, readonly string[]>> = {
  'webhook.post': ['destination'],
  'http.call': ['request', 'definition', 'amount', 'currency'],
};

/** The parameters without those that only we write. */
export function withoutOurs(type: string, params: Params): Record<string, unknown> {
  const ours = OURS[type] ?? [];
  return Object.fromEntries(Object.entries(params).filter(([name]) => !ours.includes(name)));
}

/**
 * Binds a post to its destination. What it reaches is written into its parameters, so that a person sees it, and what was
 * approved is compared with it again before it is sent.
 * @param isOpen whether a draft says that it lacks what stands at this path
 */
export function bindPost(
  given: Params,
  { destinations }: OutsideTargets,
  isOpen: (path: string) => boolean,
): Binding {
  const params = withoutOurs('webhook.post', given);
  const { destinationId } = params;
  const target = destinations.find((each) => each.destinationId === destinationId);
  if (!target && !isOpen('params.destinationId')) {
    const message = 'is not a destination of this workspace that receives events';
    return { ok: false, faults: [{ path: 'params.destinationId', rule: 'known', message }] };
  }
  return {
    ok: true,
    params: target ? { ...params, destination: targetInFull(target) } : params,
    reversibility: 'irreversible',
    compensation: null,
  };
}

/** What {@link targetInFull} has put behind the description, or in its place. */
const ADDRESS = /(?:^| \()https?:\/\/.*$/is;

/** The name of the destination in the parameters of a post, for everybody; null where it is still asked for. */
export function destinationIn({
  destination,
  destinationId,
}: {
  destination?: string | null | undefined;
  destinationId?: string | null | undefined;
}): string | null {
  if (!destinationId) return null;
  return destinationName({ destinationId, description: destination?.replace(ADDRESS, '') ?? '' });
}

/** The parameters for those who do not decide: a destination by its name, without its address (docs/decisions/0029). */
export function withoutAddress(type: string, params: Params): Params {
  return type === 'webhook.post' && params['destination'] !== undefined
    ? { ...params, destination: destinationIn(params) }
    : params;
}

/** Binds a call to its operation, as {@link bindPost} does: its address, its definition, and the money that it moves. */
export function bindCall(
  given: Params,
  { operations }: OutsideTargets,
  isOpen: (path: string) => boolean,
): Binding {
  const params = withoutOurs('http.call', given);
  const { connector, operation: name } = params;
  const operation = operations.find((each) => each.connector === connector && each.operation === name);
  if (!operation) {
    if (isOpen('params.operation') || isOpen('params.connector'))
      return { ok: true, params, reversibility: 'externally_reversible', compensation: null };
    const message = 'is not an operation that this workspace may call';
    return { ok: false, faults: [{ path: 'params.operation', rule: 'known', message }] };
  }
  const faults = faultsOfArguments(operation, params['arguments']).map((fault): Fault => ({
    ...fault,
    path: ['params.arguments', fault.path].filter(Boolean).join('.'),
  }));
  const wrong = faults.filter(({ path }) => !isOpen(path));
  if (wrong.length > 0) return { ok: false, faults: wrong };
  const { definition, undo, readOnly } = operation;
  return {
    ok: true,
    params: {
      ...params,
      ...(faults.length === 0 && factsOf(operation, params['arguments'] as Params)),
      definition,
    },
    reversibility: readOnly ? 'read_only' : 'externally_reversible',
    compensation: undo && {
      type: HTTP_UNDO,
      params: { connector: operation.connector, operation: undo.operation },
    },
  };
}

function factsOf(operation: Operation, given: Params): Record<string, unknown> {
  const { method, url } = requestOf(operation, given);
  return { request: `${method} ${url}`, ...amountOf(operation, given) };
}
