import { cutText } from '../../../platform/kernel/text.js';
import { type Arguments, faultsOfArguments, type Operation } from '../../connectors/operation.js';
import type { ParamSchema } from '../../connectors/param-schema.js';
import { destinationName, inASentence } from '../../webhooks/destination-name.js';
import { LIMITS } from '../action-params.js';
import type { NeededInput } from '../briefing.js';
import { DRAFT_BOUNDS } from '../draft-bounds.js';
import type { DestinationTarget } from '../outside-targets.js';
import type { Ask } from './asks.js';
import type { DraftBuilder } from './draft-builder.js';
import { oneLine } from './text.js';

/**
 * “Post … to the webhook …” and “call … of … with …”, in one sentence that is all of the directive. What is not said is
 * asked for; a value is taken over as it stands, or not at all.
 */

/** Longer directives say more than one such sentence. */
const MAX_TEXT = 10_000;
const POLITE = String.raw`^\s*(?:(?:please|pls|bitte|can you|could you)\s+)?`;
const THE = String.raw`(?:(?:the|our|den|unseren|le|notre|el)\s+)?`;
const POSTS = '(?:post|poste|publish|send|schicke?|sende|publie|envoie|publica|envía)';
const TO = '(?:to|an|auf|sur|à|a|en)';
const POST = new RegExp(
  String.raw`${POLITE}${POSTS}\s+(?<what>[^]+?)\s+${TO}\s+${THE}webhook(?:\s+(?<name>[^:\n]{1,300}?))?\s*[.!]?\s*$`,
  'iu',
);
const POST_BEHIND = new RegExp(
  String.raw`${POLITE}${POSTS}\s+${TO}\s+${THE}webhook(?:\s+(?<name>[^:\n]{1,300}?))?\s*:\s*(?<what>[^]+)$`,
  'iu',
);
const CALL = new RegExp(
  String.raw`${POLITE}(?:call|run|invoke|execute|appelle|llama|ejecuta)\s+${THE}(?<label>operation\s+)?(?<operation>[\w-]{1,60}(?:\s[\w-]{1,60}){0,3}?)\s+(?:of|on|from|in|de)\s+${THE}(?<place>connector\s+)?(?<connector>[\w-]{1,60})(?:\s+(?:with|mit|avec|con)\s+(?<args>[^]+?))?\s*[.!]?\s*$`,
  'iu',
);
const QUOTED = /^(?:“([^]*)”|„([^]*)[“”]|«([^]*)»|"([^"]*)"|'([^']*)')$/u;
const THE_CONTEXT = /^(?:the|this|den|le|el)\s+(?:context|data|payload|kontext|contexte|contexto)$/iu;

/** True when the directive is such a sentence, whatever came of it. */
export function prepareOutside(draft: DraftBuilder, ask: Ask): boolean {
  const { text } = draft.whole;
  if (text.length > MAX_TEXT) return false;
  const post = POST_BEHIND.exec(text) ?? POST.exec(text);
  if (post && draft.can('webhook.post')) {
    const { name = '', what = '' } = post.groups!;
    preparePost(draft, ask, { name, what: what.trim(), isVerbatim: POST_BEHIND.test(text) });
    return true;
  }
  const call = CALL.exec(text)?.groups;
  return call !== undefined && draft.can('http.call') && prepareCall(draft, ask, call);
}

function preparePost(
  draft: DraftBuilder,
  ask: Ask,
  { name, what, isVerbatim }: { name: string; what: string; isVerbatim: boolean },
): void {
  const { destinations } = draft.briefing.targets;
  if (destinations.length === 0) {
    draft.unable('post to a webhook: no destination is registered here', ask);
    return;
  }
  const found = destinationsCalled(unquoted(name) ?? name, destinations);
  const data = dataIn(draft, what, isVerbatim);
  const needsInput: NeededInput[] = [];
  if (found.length !== 1) {
    const choices = (found.length > 0 ? found : destinations).slice(0, 5).map(choice).join('; ');
    needsInput.push(needed('params.destinationId', `Which webhook is it? There are: ${choices}.`));
  }
  if (!data) {
    const said = cutText(oneLine(what), 200);
    needsInput.push(needed('params.data', `What exactly is to be posted? The directive says “${said}”.`));
  }
  draft.add({
    title: `Event for ${found[0] ? inASentence(found[0]) : `the webhook ${name}`}`,
    type: 'webhook.post',
    target: found[0]?.destinationId ?? '',
    params: {
      ...(found.length === 1 && { destinationId: found[0]!.destinationId }),
      data: data ?? {},
    },
    needsInput,
    ask,
  });
}

/** The id is what is to be supplied. */
function choice(target: DestinationTarget): string {
  const name = destinationName(target);
  return name.endsWith(target.destinationId) ? name : `${name} (${target.destinationId})`;
}

/** By id or description; else by what is a part of exactly one description. */
function destinationsCalled(
  name: string,
  destinations: readonly DestinationTarget[],
): readonly DestinationTarget[] {
  const wanted = plain(name);
  if (wanted === '') return destinations;
  const same = destinations.filter(
    ({ destinationId, description }) => destinationId === name.trim() || plain(description) === wanted,
  );
  return same.length > 0
    ? same
    : destinations.filter(({ description }) => plain(description).includes(wanted));
}

/** What is quoted, JSON, or behind a colon; the context where the directive says so. Else nobody has worded it. */
function dataIn(draft: DraftBuilder, what: string, isVerbatim: boolean): Record<string, unknown> | undefined {
  const { context } = draft.briefing.directive;
  if (THE_CONTEXT.test(what)) return context && Object.keys(context).length > 0 ? { ...context } : undefined;
  const json = objectIn(what);
  if (json) return json;
  const text = unquoted(what) ?? (isVerbatim ? what : undefined);
  return text ? { text } : undefined;
}

function prepareCall(draft: DraftBuilder, ask: Ask, said: Record<string, string | undefined>): boolean {
  const { operations } = draft.briefing.targets;
  const operation = operations.find(
    (each) =>
      plain(each.operation) === plain(said['operation']!) &&
      plain(each.connector) === plain(said['connector']!),
  );
  if (!operation) {
    // “Call Jane of Acme” is about somebody else.
    if (said['label'] === undefined && said['place'] === undefined) return false;
    const there = operations.slice(0, 20).map((each) => `${each.operation} of ${each.connector}`);
    draft.remarks.push(
      there.length === 0
        ? 'No operations are configured here.'
        : `There are these operations: ${there.join(', ')}.`,
    );
    draft.unable(`call ${said['operation']} of ${said['connector']}: there is no such operation`, ask);
    return true;
  }
  const { given, needsInput } = argumentsFrom(operation, said['args'] ?? '');
  draft.add({
    title: `Call of ${operation.operation} of ${operation.connector}`,
    type: 'http.call',
    target: '',
    params: { connector: operation.connector, operation: operation.operation, arguments: given },
    needsInput,
    ask,
  });
  return true;
}

const PAIR =
  /(?<name>[A-Za-z][\w-]{0,59})\s*[=:]\s*(?:“(?<a>[^”]*)”|"(?<b>[^"]*)"|'(?<c>[^']*)'|(?<bare>[^,;\n“"']{1,2000}?))\s*(?=[,;\n]|$|\s(?:and|und|et|y)\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;

/** `email = jane@acme.example, name = “Jane”`, JSON, or the one value that the operation requires. */
function argumentsFrom(operation: Operation, text: string): { given: Arguments; needsInput: NeededInput[] } {
  const { properties, required = [] } = operation.params;
  const needsInput: NeededInput[] = [];
  let given: Record<string, unknown> = objectIn(text) ?? {};
  if (Object.keys(given).length === 0 && text.trim() !== '') {
    const pairs = [...text.matchAll(PAIR)];
    const rest = pairs.reduce((left, [pair]) => left.replace(pair, ' '), text);
    const [only, ...others] = required;
    if (pairs.length === 0 && only !== undefined && others.length === 0) {
      given = { [only]: valueIn(unquoted(text.trim()) ?? text.trim(), properties[only]) };
    } else {
      given = Object.fromEntries(
        pairs.map(({ groups }) => {
          const { name = '', a, b, c, bare } = groups!;
          return [name, valueIn(a ?? b ?? c ?? bare!.trim(), properties[name])];
        }),
      );
      if (/[\p{L}\p{N}]{2}/u.test(rest.replace(/(?<!\p{L})(?:and|und|et|y)(?!\p{L})/giu, ' ')))
        needsInput.push(
          needed('params.arguments', `Is “${cutText(oneLine(rest), 200)}” to be a part of the call?`),
        );
    }
  }
  const wrong = new Map(
    faultsOfArguments(operation, given).map(({ path, message }) => [path.split('.')[0]!, message]),
  );
  for (const [name, message] of wrong) {
    const value = given[name];
    delete given[name];
    const about = Object.hasOwn(properties, name) ? properties[name]!.description : undefined;
    const isKnown = Object.hasOwn(properties, name);
    if (!isKnown)
      needsInput.push(needed('params.arguments', `“${name}” is not a parameter of this operation.`));
    else if (value === undefined)
      needsInput.push(needed(`params.arguments.${name}`, `What is ${name}?${about ? ` ${about}.` : ''}`));
    else
      needsInput.push(
        needed(
          `params.arguments.${name}`,
          `“${cutText(typeof value === 'string' ? value : JSON.stringify(value), 100)}” is no ${name}: ${message}`,
        ),
      );
  }
  return { given, needsInput };
}

/** As the schema has it; what does not fit stays a text, and is asked about. */
function valueIn(text: string, schema: ParamSchema | undefined): unknown {
  if ((schema?.type === 'number' || schema?.type === 'integer') && /^-?\d{1,15}(?:\.\d{1,10})?$/.test(text))
    return Number(text);
  if (schema?.type === 'boolean' && /^(?:true|false|yes|no)$/i.test(text))
    return /^(?:true|yes)$/i.test(text);
  return text;
}

function needed(path: string, message: string): NeededInput {
  return { path, message: cutText(message, DRAFT_BOUNDS.reason) };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  if (!text.trim().startsWith('{') || text.length > LIMITS.json) return undefined;
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function unquoted(text: string): string | undefined {
  return QUOTED.exec(text.trim())
    ?.slice(1)
    .find((inner) => inner !== undefined)
    ?.trim();
}

/** Names that people write alike: in whatever case, with spaces, hyphens or underscores. */
function plain(name: string): string {
  return name
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '_');
}
