import type { JSONSchema7 } from 'ai';
import type { Operation } from '../connectors/index.js';
import type { ActionTypeName } from './action-types.js';
import { destinationName } from '../webhooks/index.js';
import type { DestinationTarget } from '../webhooks/index.js';
import { type OutsideTargets, withoutOurs } from './outside-targets.js';

/** What a model is told of the destinations and operations of a workspace, and how it names them. */

const MAX_OPERATIONS = 40;
/** Of what describes the operations, in characters of JSON: a prompt has other things to say. */
const MAX_DESCRIBED = 20_000;

/** As many operations as there is room for. */
function shownOperations({ operations }: OutsideTargets): Operation[] {
  const shown: Operation[] = [];
  let room = MAX_DESCRIBED;
  for (const operation of operations.slice(0, MAX_OPERATIONS)) {
    room -= JSON.stringify(described(operation)).length;
    if (room < 0) break;
    shown.push(operation);
  }
  return shown;
}

/** For the briefing; nothing where there is nothing to reach. */
export function describedTargets(targets: OutsideTargets): object {
  const operations = shownOperations(targets);
  const left = targets.operations.length - operations.length;
  return {
    ...(targets.destinations.length > 0 && { destinations: targets.destinations.map(named) }),
    ...(operations.length > 0 && {
      operations: [
        ...operations.map(described),
        ...(left > 0 ? [`… (${left} more operations are left out here)`] : []),
      ],
    }),
  };
}

/** Its address stays here: a model would repeat it in titles, which everybody reads. */
function named({ destinationId, description }: DestinationTarget): object {
  return { destinationId, name: destinationName({ destinationId, description }) };
}

function described({ connector, operation, description, params, readOnly }: Operation): object {
  return { connector, operation, description, params, readOnly };
}

/**
 * The forms of the parameters of a type that reaches outside: a destination is one of those that are there, an operation
 * has its own arguments, and what is posted is JSON written as a text, since strict output knows no object of any form.
 * None where there is nothing to reach.
 */
export function outsideForms(
  type: ActionTypeName,
  targets: OutsideTargets,
  strict: (schema: JSONSchema7) => JSONSchema7,
): JSONSchema7[] | undefined {
  if (type === 'webhook.post') {
    const { destinations } = targets;
    const ids = destinations.map(({ destinationId }) => destinationId);
    const destinationId: JSONSchema7 = { type: 'string', enum: ids };
    return ids.length === 0
      ? []
      : [formOf({ destinationId: orNull(destinationId), data: { type: ['string', 'null'] } })];
  }
  if (type !== 'http.call') return undefined;
  return shownOperations(targets).map(({ connector, operation, params }) =>
    formOf({
      connector: { type: 'string', const: connector },
      operation: { type: 'string', const: operation },
      // Unknown values can be left out; needsInput asks for them.
      arguments: strict({ ...(params as unknown as JSONSchema7), required: [] }),
    }),
  );
}

function orNull(schema: JSONSchema7): JSONSchema7 {
  return { anyOf: [schema, { type: 'null' }] };
}

function formOf(properties: Record<string, JSONSchema7>): JSONSchema7 {
  return { type: 'object', properties, required: Object.keys(properties), additionalProperties: false };
}

/** What a model answered for such a type, in our form: `null` stands for what is not there. */
export function readOutside(
  type: ActionTypeName,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const params = Object.fromEntries(
    Object.entries(withoutOurs(type, given)).filter(([, value]) => value !== null),
  );
  if (type === 'webhook.post') return { ...params, data: dataIn(params['data']) };
  return type === 'http.call' ? { ...params, arguments: withoutNulls(params['arguments'] ?? {}) } : params;
}

function dataIn(data: unknown): unknown {
  if (typeof data !== 'string') return data ?? {};
  if (data.trim() === '') return {};
  try {
    return JSON.parse(data);
  } catch {
    // It is refused as no object, and the model is told so.
    return data;
  }
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const known = Object.entries(value).filter(([, each]) => each !== null);
  return Object.fromEntries(known.map(([name, each]) => [name, withoutNulls(each)]));
}
