import { type Arguments, faultsOfArguments, type Operation } from '../../connectors/operation.js';
import type { ParamSchema } from '../../connectors/param-schema.js';
import type { NeededInput } from '../briefing.js';
import type { DestinationTarget, OutsideTargets } from '../outside-targets.js';
import { ask, type Move } from './move.js';

const CALL =
  /^\s*(?:please\s+)?call\s+(?:the\s+)?(?<label>operation\s+)?(?<called>[\w-]{1,60}(?:\s[\w-]{1,60}){0,3}?)\s+of\s+(?:the\s+)?(?<place>connector\s+)?(?<connector>[\w-]{1,60})(?:\s+with\s+(?<args>[^]+?))?\s*\.?\s*$/iu;
const PAIR =
  /(?<name>[A-Za-z][\w-]{0,59})\s*[=:]\s*(?:“(?<a>[^”]*)”|"(?<b>[^"]*)"|(?<bare>[^,;\n“"]{1,2000}?))\s*(?=[,;\n]|$|\sand\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;

const POST =
  /^\s*(?:please\s+)?post\s+(?:“(?<a>[^“”]+)”|"(?<b>[^"]+)")\s+to\s+(?:the\s+)?webhook\s+(?<name>[^:\n]{1,300}?)\s*\.?\s*$/iu;

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(
  text: string,
  { operations, destinations }: OutsideTargets,
): Move | string | undefined {
  // Longer directives say more than one such sentence.
  if (text.length > 10_000) return undefined;
  const call = CALL.exec(text)?.groups;
  const post = POST.exec(text)?.groups;
  return call
    ? callOf(operations, call)
    : post && postOf(destinations, post['name']!, post['a'] ?? post['b']!);
}

function postOf(all: readonly DestinationTarget[], name: string, text: string): Move {
  const found = all.find((each) => [each.destinationId, plain(each.description)].includes(plain(name)));
  const there = all
    .slice(0, 5)
    .map(({ description, destinationId }) => `${description} (${destinationId})`)
    .join('; ');
  return {
    type: 'webhook.post',
    params: { ...(found && { destinationId: found.destinationId }), data: { text } },
    asked: found ? [] : [ask('destinationId', `Which webhook is it? There are: ${there || 'none'}.`)],
  };
}

function callOf(
  operations: readonly Operation[],
  { called = '', connector = '', label, place, args = '' }: Record<string, string | undefined>,
): Move | string | undefined {
  const operation = operations.find(
    (each) => plain(each.operation) === plain(called) && plain(each.connector) === plain(connector),
  );
  if (operation) {
    const { given, asked } = argumentsFrom(operation, args);
    return {
      type: 'http.call',
      params: { connector: operation.connector, operation: operation.operation, arguments: given },
      asked,
    };
  }
  // “Call Jane of Acme” is about somebody else.
  const isNamed = label !== undefined || place !== undefined || called.includes('_') || args.includes('=');
  const there = operations
    .slice(0, 20)
    .map((each) => `${each.operation} of ${each.connector}`)
    .join(', ');
  return isNamed
    ? `There is no operation ${called} of ${connector}. There are: ${there || 'none'}.`
    : undefined;
}

/** `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function argumentsFrom(
  { params, ...operation }: Operation,
  text: string,
): { given: Arguments; asked: NeededInput[] } {
  const pairs = [...text.matchAll(PAIR)].map(
    ({ 0: whole, groups }) => ({ whole, ...groups! }) as Record<string, string | undefined>,
  );
  const given: Record<string, unknown> = Object.fromEntries(
    pairs.map(({ name = '', a, b, bare }) => [
      name,
      valueIn(a ?? b ?? bare!.trim(), params.properties[name]),
    ]),
  );
  const rest = pairs
    .reduce((left, { whole = '' }) => left.replace(whole, ' '), text)
    .replace(/\band\b/gi, ' ');
  const asked = /[\p{L}\p{N}]{2}/u.test(rest)
    ? [ask('arguments', `Is “${rest.trim()}” to be a part of the call?`)]
    : [];
  const wrong = new Map(
    faultsOfArguments({ params, ...operation }, given).map(({ path, message }) => [
      path.split('.')[0]!,
      message,
    ]),
  );
  for (const [name, message] of wrong) {
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    delete given[name];
    const known = Object.hasOwn(params.properties, name) ? params.properties[name] : undefined;
    if (!known) asked.push(ask('arguments', `“${name}” is not a parameter of this operation.`));
    else
      asked.push(
        ask(`arguments.${name}`, `What is ${name}? ${known.description ?? ''} It ${message}.${said}`),
      );
  }
  return { given, asked };
}

/** As the schema has it; what does not fit stays a text, and is asked about. */
function valueIn(text: string, schema: ParamSchema | undefined): unknown {
  if ((schema?.type === 'number' || schema?.type === 'integer') && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text))
    return Number(text);
  return schema?.type === 'boolean' && /^(?:true|false|yes|no)$/i.test(text)
    ? /^(?:true|yes)$/i.test(text)
    : text;
}

/** Names that people write alike: in whatever case, with spaces, hyphens or underscores. */
const plain = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_');
