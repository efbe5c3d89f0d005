import { cutText } from '../../platform/kernel/text.js';
import { LIMITS } from './action-params.js';
import type { Action } from './action-types.js';
import { CAPOS } from './capo.js';

/**
 * What a person reads of a draft, made from its work packets and from nothing else: a runner, least of all a model, has
 * no say in how its own work is described.
 */

/** A document that is larger still stands whole in its work packet. */
const CUT = '\n\n… (the rest stands in the work packets)';
const MAX_SUMMARY = 1_000;

/** One sentence for each work packet. */
export function summaryOf(actions: readonly Action[]): string {
  if (actions.length === 0) return 'Nothing was prepared.';
  return cutText(actions.map(sentenceFor).join(' '), MAX_SUMMARY);
}

/** The work packets as one Markdown document, each text word for word. */
export function bodyOf(actions: readonly Action[]): string {
  return cutText(actions.map(sectionFor).join('\n\n---\n\n'), LIMITS.document, CUT);
}

function sentenceFor({ type, params }: Action): string {
  switch (type) {
    case 'email.send':
      return `A mail to ${params.to.join(', ')}: “${params.subject}”.`;
    case 'document.file':
      return `A document: “${params.title}”.`;
    case 'signal.raise':
      return `A signal (${params.type}, ${params.severity}): “${params.title}”.`;
    case 'revenue.record':
      return `Revenue of ${params.amount} ${params.currency} from ${params.source}.`;
    case 'directive.create':
      return `A directive for ${CAPOS[params.capo].name}: “${cutText(params.directive.replace(/\s+/g, ' ').trim(), 120)}”.`;
  }
}

function sectionFor({ type, params }: Action): string {
  switch (type) {
    case 'email.send': {
      const copies = params.cc?.length ? [`**Cc:** ${params.cc.join(', ')}`] : [];
      const answers = params.replyTo === undefined ? [] : [`**Reply-To:** ${params.replyTo}`];
      const head = [
        `**To:** ${params.to.join(', ')}`,
        ...copies,
        ...answers,
        `**Subject:** ${params.subject}`,
      ];
      return `${head.join('  \n')}\n\n${params.body}`;
    }
    case 'document.file':
      return `# ${params.title}\n\n${params.body}`;
    case 'signal.raise':
      return `**Signal (${params.type}, ${params.severity}):** ${params.title}\n\n${params.body}`;
    case 'revenue.record':
      return [
        `**Revenue:** ${params.amount} ${params.currency} from ${params.source}`,
        ...(params.description === undefined ? [] : [params.description]),
      ].join('\n\n');
    case 'directive.create':
      return `**For ${CAPOS[params.capo].name}:**\n\n${params.directive}`;
  }
}
