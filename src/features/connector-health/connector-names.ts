import { nameInASentence } from '../webhooks/index.js';
import type { ConnectorEntity } from './connector.entity.js';

type Named = Pick<ConnectorEntity, 'kind' | 'name'>;

/** As part of a sentence that every member may read. */
export function inASentence({ kind, name }: Named): string {
  switch (kind) {
    case 'webhook':
      return nameInASentence(name);
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
