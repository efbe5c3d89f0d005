import { PageFacts } from '../../platform/kernel/pages.dto.js';
import type { ConnectorKind, ConnectorStatus } from './connector.entity.js';

/** The parameter of the paths, as it is documented. */
export const CONNECTOR_PARAM = {
  name: 'connectorId',
  description: 'The id of the connector.',
  example: 'con_01khqws0y0g13zyp5vc6y27gyg',
};

/** Something that is configured and that the service needs, and how it was when it was last checked. */
export class ConnectorView {
  /** The id of the connector. @example 'con_01khqws0y0g13zyp5vc6y27gyg' */
  connectorId!: string;
  /**
   * Its name: the name of a connector of the file; of a destination its description, or its id where it has none.
   * @example 'Mail'
   */
  name!: string;
  /** database, queue, mail, model, partner, webhook or http @example 'mail' */
  kind!: ConnectorKind;
  /**
   * green: the last check succeeded; yellow: it is slow (over 2 seconds), has failed once or twice, or has not been checked yet; red: it has
   * failed three times in a row, or refuses our credentials
   * @example 'green'
   */
  status!: ConnectorStatus;
  /** Why it has this status, in a sentence. @example 'The mail server accepts mail.' */
  reason!: string;
  /** How long the last check took, in milliseconds; null where nothing is waited for. @example 42 */
  latencyMs!: number | null;
  /** When it was checked last, Unix milliseconds; null: not yet. @example 1771402200000 */
  lastCheckedAt!: number | null;
  /** When a check last succeeded, Unix milliseconds; null: never yet. @example 1771402200000 */
  lastOkAt!: number | null;
  /** How many checks in a row have failed. @example 0 */
  consecutiveFailures!: number;
}

export class ConnectorPage extends PageFacts {
  /** The connectors of this page: what the whole service has first, then what the workspace has configured. */
  items!: ConnectorView[];
}

/** One check of a connector. */
export class ConnectorCheckView {
  /** Counts the checks of the connector, from 1. @example 288 */
  n!: number;
  /** When it was checked, Unix milliseconds. @example 1771402200000 */
  checkedAt!: number;
  /** The status after this check. @example 'green' */
  status!: ConnectorStatus;
  /** What the check has found, in a sentence. @example 'The mail server accepts mail.' */
  reason!: string;
  /** How long it took, in milliseconds; null where nothing was waited for. @example 42 */
  latencyMs!: number | null;
  /** Whether the status is another than after the check before. @example false */
  changed!: boolean;
}

export class ConnectorCheckPage extends PageFacts {
  /** The checks of this page, newest first: all of the last seven days, and of the time before those that changed the status. */
  items!: ConnectorCheckView[];
}
