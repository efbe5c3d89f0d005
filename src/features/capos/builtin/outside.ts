import { cutText } from '../../../platform/kernel/text.js';
import { faultsOfArguments, type Operation } from '../../connectors/operation.js';
import { LIMITS } from '../action-params.js';
import type { Briefing, NeededInput } from '../briefing.js';
import type { DestinationTarget, OutsideTargets } from '../outside-targets.js';
import { oneLine } from './marks.js';
import { ask, type Move } from './moves.js';

const NAME = String.raw`[\w-]{1,60}`;
const CALL = new RegExp(
  String.raw`^\s*(?:please\s+)?call\s+(?:the\s+)?(?:operation\s+)?(${NAME}(?:\s${NAME}){0,3}?)\s+of\s+(?:the\s+)?` +
    String.raw`(?:connector\s+)?(${NAME})(?:\s+with\s+([^]+?))?\s*\.?\s*$`,
  'iu',
);
const POST =
  /^\s*(?:please\s+)?post\s+(?:“([^“”]+)”|"([^"]+)")\s+to\s+(?:the\s+)?webhook\s+([^:\n]{1,300}?)\s*\.?\s*$/iu;
const PAIR =
  /([A-Za-z][\w-]{0,59})\s*[=:]\s*(?:“([^”]*)”|"([^"]*)"|([^,;\n“"]{1,2000}?))\s*(?=[,;\n]|$|\sand\s+[A-Za-z][\w-]{0,59}\s*[=:])/gu;

/** `Call ... of ... with a = b` or `Post "..." to the webhook ...`, where that is all of the directive; a text says why not. */
export function outsideIn(given: string, targets: OutsideTargets): Move | string | undefined {
  const text = given.length > 10_000 ? '' : given;
  const [, a, b, name] = POST.exec(text) ?? [];
  if (name) return postTo(targets.destinations, name, a ?? b!);
  const [, called = '', connector = '', args = ''] = CALL.exec(text) ?? [];
  const found = targets.operations.find((each) => plain(nameOf(each)) === plain(`${called} of ${connector}`));
  if (found) return callOf(found, args);
  if (called === '' || !/\b(?:operation|connector)\b|[_=]/i.test(text)) return undefined;
  return `There is no operation ${called} of ${connector}. ${listed(targets.operations.map(nameOf))}`;
}

const plain = (name: string) => name.replace(/[\s_-]+/g, '_').toLowerCase();
const nameOf = ({ operation, connector }: Operation) => `${operation} of ${connector}`;
const listed = (names: readonly string[]) => `There are: ${names.slice(0, 20).join(', ') || 'none'}.`;

function postTo(all: readonly DestinationTarget[], name: string, text: string): Move {
  const found = all.find((each) => [each.destinationId, plain(each.description)].includes(plain(name)));
  const there = listed(all.map((each) => `${each.description} (${each.destinationId})`));
  const params = { ...(found && { destinationId: found.destinationId }), data: { text } };
  const asked = found ? [] : [ask('destinationId', `Which webhook is it? ${there}`)];
  return { type: 'webhook.post', params, asked };
}

/** With `email = jane@acme.example, name = “Jane”`; whatever does not fit is asked about. */
function callOf(operation: Operation, args: string): Move {
  const { properties } = operation.params;
  const given: Record<string, unknown> = {};
  const rest = args.replace(PAIR, (_pair, name: string, a?: string, b?: string, bare?: string) => {
    given[name] = valueIn(a ?? b ?? bare!.trim(), properties[name]?.type);
    return ' ';
  });
  const asked: NeededInput[] = [];
  if (/[\p{L}\p{N}]{2}/u.test(rest.replace(/\band\b/gi, ' ')))
    asked.push(ask('arguments', `Is “${rest.trim()}” to be a part of the call?`));
  for (const { path, message } of faultsOfArguments(operation, given)) {
    const [name = ''] = path.split('.');
    const said = given[name] === undefined ? '' : ` The directive says ${JSON.stringify(given[name])}.`;
    const isKnown = Object.hasOwn(properties, name);
    const question = `What is ${name}? ${(isKnown && properties[name]?.description) || ''} It ${message}.${said}`;
    asked.push(ask(isKnown ? `arguments.${name}` : 'arguments', question));
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

type Counts = Readonly<Record<string, number>>;
const sums = (all: Counts) => Object.entries(all).map(([unit, sum]) => `${Number(sum.toFixed(4))} ${unit}`);
const counts = (all: Counts, of: string) => Object.entries(all).map(([kind, n]) => `${n} ${kind} ${of}`);

export function figuresOf({
  workspace,
  now,
  metrics,
  guardian,
  figures,
  signals,
  recentPackets,
}: Briefing): string {
  const newest = { [metrics.currency]: metrics.revenue24h, ...metrics.revenue24hByCurrency };
  const days = (figures?.days ?? []).toReversed().map(({ day, revenue, ...counted }) => {
    const events = [...counts(counted.approvals, 'approvals'), ...counts(counted.signals, 'signals')];
    return `${day}: ${[...sums(revenue), ...events].join(', ')}`;
  });
  const open = (figures?.openApprovals ?? []).map(({ title }) => `“${title}”`);
  const sections: Record<string, readonly string[]> = {
    'Revenue of the last 24 hours': sums(newest),
    [`By day, since ${figures?.since ?? ''}`]: days,
    Approvals: [`${guardian.pending} waiting for a decision`, ...open],
    'Open signals': signals.map(({ severity, title }) => `${severity}: ${title}`),
    'Newest work': recentPackets.map(({ title, status }) => `${title}: ${status}`),
  };
  const head = `${workspace.name}, as of ${new Date(now).toISOString().slice(0, 16).replace('T', ' ')} UTC.`;
  const said = Object.entries(sections).flatMap(([heading, lines]) =>
    lines.length > 0 ? [`## ${heading}\n\n${lines.map((line) => `- ${oneLine(line)}`).join('\n')}`] : [],
  );
  return cutText([head, ...said].join('\n\n'), LIMITS.document);
}
