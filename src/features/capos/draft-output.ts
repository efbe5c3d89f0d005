import { cutText } from '../../platform/kernel/text.js';
import { LIMITS } from './action-params.js';
import type { Action, ActionTypeName, ParamsOf } from './action-types.js';
import { type CapoRole, CAPOS } from './capo.js';
import { destinationIn } from './outside-targets.js';
import { nameInASentence } from '../webhooks/destination-name.js';

/**
 * What a person reads of a draft, made from its work packets and from nothing else: a runner, least of all a model, has
 * no say in how its own work is described. A draft may lack something that a person is asked for; then it says so here.
 */

/** A document that is larger still stands whole in its work packet. */
const CUT = '\n\n… (the rest stands in the work packets)';
const MAX_SUMMARY = 1_000;

/** An action of which a person may still have to supply a part. */
type Unfinished = { [T in ActionTypeName]: { type: T; params: Missing<ParamsOf<T>> } }[ActionTypeName];
type Missing<Params> = { [Name in keyof Params]?: Params[Name] | null };

/** One sentence for each work packet. */
export function summaryOf(actions: readonly Action[]): string {
  if (actions.length === 0) return 'Nothing was prepared.';
  return cutText(actions.map(sentenceFor).join(' '), MAX_SUMMARY);
}

/** The work packets as one Markdown document, each text word for word. */
export function bodyOf(actions: readonly Action[]): string {
  return cutText(wholeBodyOf(actions), LIMITS.document, CUT);
}

/** True when {@link bodyOf} shows a part only. */
export function isBodyCut(actions: readonly Action[]): boolean {
  return wholeBodyOf(actions).length > LIMITS.document;
}

/** What one work packet does, in one line. */
export function titleOf(action: Action): string {
  return cutText(lineFor(action), LIMITS.title);
}

/**
 * A document as {@link bodyOf} shows it, read back after somebody has edited it: what its first line says behind `# ` is
 * the title. Without such a line the title stays.
 */
export function documentFrom(body: string, title: string): ParamsOf<'document.file'> {
  const [, heading, rest] = /^# ([^\n]+)(?:\n\n?([^]*))?$/.exec(body) ?? [];
  return heading === undefined ? { title, body } : { title: heading, body: rest ?? '' };
}

function wholeBodyOf(actions: readonly Action[]): string {
  return actions.map(sectionFor).join('\n\n---\n\n');
}

function sentenceFor({ type, params }: Unfinished): string {
  switch (type) {
    case 'email.send':
      return `A mail to ${people(params.to)}: “${words(params.subject, 'no subject')}”.`;
    case 'document.file':
      return `A document: “${words(params.title, 'no title')}”.`;
    case 'signal.raise':
      return `A signal (${kindOf(params)}): “${words(params.title, 'no title')}”.`;
    case 'revenue.record':
      return `Revenue of ${sum(params)} from ${words(params.source, 'nobody')}.`;
    case 'webhook.post':
      return `An event for ${receiverIn(params)}.`;
    case 'http.call':
      return `A call of ${callIn(params)}.`;
    case 'directive.create':
      return `A directive for ${nameOf(params.capo)}: “${firstWords(params.directive)}”.`;
    case 'standing_order.propose':
      return `A standing order to activate: “${words(params.name, 'no name')}”.`;
  }
}

function lineFor({ type, params }: Unfinished): string {
  switch (type) {
    case 'email.send':
      return `Mail to ${people(params.to)}: ${words(params.subject, 'no subject')}`;
    case 'document.file':
      return `Document: ${words(params.title, 'no title')}`;
    case 'signal.raise':
      return `Signal: ${words(params.title, 'no title')}`;
    case 'revenue.record':
      return `Revenue of ${sum(params)} from ${words(params.source, 'nobody')}`;
    case 'webhook.post':
      return `Event for ${receiverIn(params)}`;
    case 'http.call':
      return `Call of ${callIn(params)}`;
    case 'directive.create':
      return `Directive for ${nameOf(params.capo)}: ${firstWords(params.directive)}`;
    case 'standing_order.propose':
      return `Standing order: ${words(params.name, 'no name')}`;
  }
}

function sectionFor({ type, params }: Unfinished): string {
  switch (type) {
    case 'email.send': {
      const copies = params.cc?.length ? [`**Cc:** ${params.cc.join(', ')}`] : [];
      const answers = params.replyTo ? [`**Reply-To:** ${params.replyTo}`] : [];
      const head = [
        `**To:** ${people(params.to)}`,
        ...copies,
        ...answers,
        `**Subject:** ${words(params.subject, 'no subject')}`,
      ];
      return `${head.join('  \n')}\n\n${words(params.body, 'no text')}`;
    }
    case 'document.file':
      return `# ${words(params.title, 'no title')}\n\n${words(params.body, 'no text')}`;
    case 'signal.raise':
      return `**Signal (${kindOf(params)}):** ${words(params.title, 'no title')}\n\n${words(params.body, 'no text')}`;
    case 'revenue.record':
      return [
        `**Revenue:** ${sum(params)} from ${words(params.source, 'nobody')}`,
        ...(params.description ? [params.description] : []),
      ].join('\n\n');
    case 'webhook.post':
      return `**Event for the webhook:** ${words(destinationIn(params), 'no destination')}\n\n${jsonBlock(params.data)}`;
    case 'http.call':
      return [
        `**Call:** ${callIn(params)}`,
        ...(params.request ? [`\`${params.request.replaceAll('`', '%60')}\``] : []),
        jsonBlock(params.arguments),
      ].join('\n\n');
    case 'directive.create':
      return `**For ${nameOf(params.capo)}:**\n\n${words(params.directive, 'no text')}`;
    case 'standing_order.propose': {
      const { name, text, ...rule } = params;
      return [
        `**Standing order:** ${words(name, 'no name')}`,
        ...(text ? [text] : []),
        // No line of indented JSON begins with a backtick, so nothing in it ends the block.
        `\`\`\`json\n${JSON.stringify(rule, null, 2)}\n\`\`\``,
      ].join('\n\n');
    }
  }
}

function receiverIn(params: Missing<ParamsOf<'webhook.post'>>): string {
  const name = destinationIn(params);
  return name === null ? 'a webhook (no destination yet)' : nameInASentence(name);
}

function callIn({ connector, operation }: Missing<ParamsOf<'http.call'>>): string {
  return `${words(operation, 'no operation')} of ${words(connector, 'no connector')}`;
}

/** No line of indented JSON begins with a backtick, so nothing in it ends the block. */
function jsonBlock(value: unknown): string {
  return `\`\`\`json\n${JSON.stringify(value ?? {}, null, 2)}\n\`\`\``;
}

function people(addresses: readonly (string | null)[] | null | undefined): string {
  const known = addresses?.filter((address) => address?.trim()) ?? [];
  return known.length > 0 ? known.join(', ') : '(nobody yet)';
}

function words(text: string | null | undefined, otherwise: string): string {
  return text?.trim() ? text : `(${otherwise} yet)`;
}

function firstWords(text: string | null | undefined): string {
  return cutText(words(text, 'no text').replace(/\s+/g, ' ').trim(), 120);
}

function sum({ amount, currency }: Missing<ParamsOf<'revenue.record'>>): string {
  return `${typeof amount === 'number' ? amount : '(no amount yet)'} ${words(currency, 'no currency')}`;
}

function kindOf({ type, severity }: Missing<ParamsOf<'signal.raise'>>): string {
  return `${words(type, 'no type')}, ${words(severity, 'no severity')}`;
}

function nameOf(capo: CapoRole | null | undefined): string {
  return capo ? CAPOS[capo].name : '(nobody yet)';
}
