import type { ConnectorEntity } from './connector.entity.js';

type Named = Pick<ConnectorEntity, 'kind' | 'subject' | 'name'>;

/**
 * A destination for those who may not see its host, which may be the secret of its receiver, as with tunnels and
 * collectors that give each user a host of their own.
 */
export function nameWithoutHost({ kind, subject, name }: Named): string {
  return kind === 'webhook' ? `Webhook destination ${endOf(subject)}` : name;
}

/** As part of a sentence that every member may read. */
export function inASentence({ kind, subject, name }: Named): string {
  switch (kind) {
    case 'webhook':
      return `the webhook destination ${endOf(subject)}`;
    case 'http':
      return `the connector ${name}`;
    case 'partner':
      return 'the connection to the partner';
    case 'database':
      return 'the database';
    case 'queue':
      return 'the work queue';
    case 'mail':
      return 'the mail connector';
    case 'model':
      return 'the model connector';
  }
}

/** {@link inASentence}, as its first words. */
export function atTheBeginning(connector: Named): string {
  return inASentence(connector).replace(/^t/, 'T');
}

/** Enough of a destination's id to find it in the list of them. */
function endOf(destinationId: string): string {
  return destinationId.slice(-6);
}
