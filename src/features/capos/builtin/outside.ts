import { faultsOfArguments, type Operation } from '../../connectors/operation.js';
import type { OutsideTargets } from '../outside-targets.js';
import { ask, type Move } from './moves.js';

const CALL =
  /^\s*(?:please\s+)?call\s+([\w-]{1,60})\s+of\s+(?:the\s+connector\s+)?([\w-]{1,60})(?:\s+with\s+([^]+?))?\s*\.?\s*$/iu;
const POST =
  /^\s*(?:please\s+)?post\s+[“"]([^“”"]+)[”"]\s+to\s+(?:the\s+)?webhook\s+([^:\n]{1,300}?)\s*\.?\s*$/iu;
const PAIR =
  /([A-Za-z][\w-]{0,59})\s*[=:]\s*(?:[“"]([^“”"]*)[”"]|([^,;\n“"]{1,2000}?))\s*(?=[,;\n]|$|\sand\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(given: string, targets: OutsideTargets): Move | string | undefined {
  const text = given.length > 10_000 ? '' : given;
  const [, posted = '', webhook] = POST.exec(text) ?? [];
  if (webhook) return postTo(targets, webhook, posted);
  const [, called = '', connector = '', args = ''] = CALL.exec(text) ?? [];
  const wanted = `${called} of ${connector}`.toLowerCase();
  const found = targets.operations.find((each) => nameOf(each).toLowerCase() === wanted);
  if (found) return callOf(found, args);
  const isCall = /[_=]/.test(called + args);
  return isCall ? `There is no operation ${wanted}. ${listed(targets.operations.map(nameOf))}` : undefined;
}

const nameOf = ({ operation, connector }: Operation) => `${operation} of ${connector}`;
const listed = (names: readonly string[]) => `There are: ${names.slice(0, 20).join(', ') || 'none'}.`;

function postTo({ destinations }: OutsideTargets, name: string, text: string): Move {
  const isNamed = (said: string) => said.toLowerCase() === name.toLowerCase();
  const found = destinations.find((each) => isNamed(each.destinationId) || isNamed(each.description));
  const there = listed(destinations.map((each) => `${each.description} (${each.destinationId})`));
  const asked = found ? [] : [ask('destinationId', `Which webhook is it? ${there}`)];
  return { type: 'webhook.post', params: { destinationId: found?.destinationId, data: { text } }, asked };
}

/** With `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function callOf(operation: Operation, args: string): Move {
  const { properties } = operation.params;
  const given: Record<string, unknown> = {};
  const rest = args.replace(PAIR, (_pair, name: string, quoted?: string, bare = '') => {
    given[name] = valueIn(quoted ?? bare.trim(), properties[name]?.type);
    return ' ';
  });
  const left = rest.replace(/\band\b|[\s,;.]/gi, ' ').trim();
  const asked = left === '' ? [] : [ask('arguments', `Is “${left}” to be a part of the call?`)];
  for (const { path, message } of faultsOfArguments(operation, given)) {
    const [name = ''] = path.split('.');
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    const isKnown = Object.hasOwn(properties, name);
    asked.push(ask(isKnown ? `arguments.${name}` : 'arguments', `What is ${name}? It ${message}.${said}`));
    delete given[name];
  }
  const params = { connector: operation.connector, operation: operation.operation, arguments: given };
  return { type: 'http.call', params, asked };
}

function valueIn(text: string, type = ''): unknown {
  if (type === 'boolean' && /^(?:true|false|yes|no)$/i.test(text)) return /^[ty]/i.test(text);
  const isNumber = /^(?:number|integer)$/.test(type) && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text);
  return isNumber ? Number(text) : text;
}
