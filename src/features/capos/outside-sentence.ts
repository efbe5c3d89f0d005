import { type Arguments, faultsOfArguments, type Operation } from '../connectors/operation.js';
import type { ParamSchema } from '../connectors/param-schema.js';
import type { NeededInput } from './briefing.js';
import { ask, type Move } from './builtin/moves.js';
import type { DestinationTarget, OutsideTargets } from './outside-targets.js';

type Groups = Readonly<Record<string, string | undefined>>;

const CALL =
  /^\s*(?:please\s+)?call\s+(?:the\s+)?(?<label>operation\s+)?(?<called>[\w-]{1,60}(?:\s[\w-]{1,60}){0,3}?)\s+of\s+(?:the\s+)?(?<place>connector\s+)?(?<connector>[\w-]{1,60})(?:\s+with\s+(?<args>[^]+?))?\s*\.?\s*$/iu;
const PAIR =
  /([A-Za-z][\w-]{0,59})\s*[=:]\s*(?:“([^”]*)”|"([^"]*)"|([^,;\n“"]{1,2000}?))\s*(?=[,;\n]|$|\sand\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;
const POST =
  /^\s*(?:please\s+)?post\s+(?:“(?<a>[^“”]+)”|"(?<b>[^"]+)")\s+to\s+(?:the\s+)?webhook\s+(?<name>[^:\n]{1,300}?)\s*\.?\s*$/iu;

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(text: string, targets: OutsideTargets): Move | string | undefined {
  if (text.length > 10_000) return undefined;
  const call = CALL.exec(text)?.groups;
  const post = POST.exec(text)?.groups;
  return call ? callOf(targets.operations, call) : post && postOf(targets.destinations, post);
}

const listed = (names: readonly string[]) => `There are: ${names.slice(0, 20).join(', ') || 'none'}.`;

function postOf(all: readonly DestinationTarget[], { a, b, name = '' }: Groups): Move {
  const found = all.find((each) => [each.destinationId, plain(each.description)].includes(plain(name)));
  const there = listed(all.map((each) => `${each.description} (${each.destinationId})`));
  const params = { ...(found && { destinationId: found.destinationId }), data: { text: a ?? b } };
  const asked = found ? [] : [ask('destinationId', `Which webhook is it? ${there}`)];
  return { type: 'webhook.post', params, asked };
}

const nameOf = ({ operation, connector }: Operation) => `${operation} of ${connector}`;
function callOf(all: readonly Operation[], said: Groups): Move | string | undefined {
  const { called = '', connector = '', label, place, args = '' } = said;
  const name = plain(`${called} of ${connector}`);
  const found = all.find((each) => plain(nameOf(each)) === name);
  if (found) {
    const { given, asked } = argumentsFrom(found, args);
    const params = { connector: found.connector, operation: found.operation, arguments: given };
    return { type: 'http.call', params, asked };
  }
  // “Call Jane of Acme” is about somebody else.
  if (!label && !place && !called.includes('_') && !args.includes('=')) return undefined;
  return `There is no operation ${called} of ${connector}. ${listed(all.map(nameOf))}`;
}

/** `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function argumentsFrom(operation: Operation, text: string): { given: Arguments; asked: NeededInput[] } {
  const { properties } = operation.params;
  const given: Record<string, unknown> = {};
  const rest = text.replace(PAIR, (_pair, name: string, a?: string, b?: string, bare?: string) => {
    given[name] = valueIn(a ?? b ?? bare!.trim(), properties[name]);
    return ' ';
  });
  const asked: NeededInput[] = [];
  if (/[\p{L}\p{N}]{2}/u.test(rest.replace(/\band\b/gi, ' ')))
    asked.push(ask('arguments', `Is “${rest.trim()}” to be a part of the call?`));
  for (const { path, message } of faultsOfArguments(operation, given)) {
    const name = path.split('.')[0]!;
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    delete given[name];
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const question = `What is ${name}? ${known?.description ?? ''} It ${message}.${said}`;
    if (known) asked.push(ask(`arguments.${name}`, question));
    else asked.push(ask('arguments', `“${name}” is not a parameter of this operation.`));
  }
  return { given, asked };
}

function valueIn(text: string, schema: ParamSchema | undefined): unknown {
  const isNumber = schema?.type === 'number' || schema?.type === 'integer';
  if (isNumber) return /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text) ? Number(text) : text;
  return schema?.type === 'boolean' && /^(?:true|false|yes|no)$/i.test(text) ? /^[ty]/i.test(text) : text;
}

const plain = (name: string) => name.replace(/[\s_-]+/g, '_').toLowerCase();
