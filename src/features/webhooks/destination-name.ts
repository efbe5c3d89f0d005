import { createHash } from 'node:crypto';
import { cutText } from '../../platform/kernel/text.js';
import type { WebhookDestinationEntity } from './destination.entity.js';

type Named = Pick<WebhookDestinationEntity, 'destinationId' | 'description'> &
  Partial<Pick<WebhookDestinationEntity, 'url'>>;

const UNNAMED = 'Webhook destination';
/** Of a description within a sentence, so that a title still says what has happened. */
const IN_A_SENTENCE = 100;

/**
 * A destination as every member may read of it: by its description or its id. Its host may be the secret of the receiver, as
 * with tunnels and collectors that give each user a host of their own, so its address is an admin's matter
 * (docs/decisions/0029). `app.discover_connectors` names destinations in the same way.
 */
export function destinationName({ destinationId, description, url }: Named): string {
  return description === '' || description === url ? `${UNNAMED} ${destinationId}` : description;
}

/** What {@link destinationName} answers, as a part of a sentence. */
export function nameInASentence(name: string): string {
  return name.startsWith(`${UNNAMED} `)
    ? name.replace(/^W/, 'the w')
    : `the webhook destination "${cutText(name, IN_A_SENTENCE)}"`;
}

/** A destination as a part of a sentence that every member may read. */
export function inASentence(destination: Named): string {
  return nameInASentence(destinationName(destination));
}

/** {@link inASentence}, as its first words. */
export function atTheBeginning(destination: Named): string {
  return inASentence(destination).replace(/^t/, 'T');
}

/** A destination to which an event can be posted, as its approver sees it. */
export interface DestinationTarget {
  destinationId: string;
  /** Empty where there is none. */
  description: string;
  /** With the beginning of a hash in place of its query, which may hold a credential, and may decide who gets the event. */
  url: string;
}

export function targetOf({
  destinationId,
  description,
  url,
}: Pick<WebhookDestinationEntity, 'destinationId' | 'description' | 'url'>): DestinationTarget {
  const { origin, pathname, search } = new URL(url);
  const query =
    search &&
    `?${createHash('sha256')
      .update(destinationId + search)
      .digest('hex')
      .slice(0, 8)}`;
  return {
    destinationId,
    // One that is the address itself says nothing more, and may hold a credential.
    description: description === url ? '' : description,
    url: origin + (pathname === '/' && !query ? '' : pathname) + query,
  };
}

/** With its address: the approver of a post must see its destination, and an approval is bound to it. */
export function targetInFull({ description, url }: DestinationTarget): string {
  return description === '' ? url : `${description} (${url})`;
}
