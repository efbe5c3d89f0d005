import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { sha256 } from '../../platform/kernel/canonical-json.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { SecretBox, SecretUnreadable } from '../../platform/secrets/secret-box.js';

/** What is sealed stands in three parts; more behind them would be read as if it were not there. */
const WRITTEN = /^\w+\.[\w-]+\.[\w-]+$/;

/** How far a device has read the chain. */
export interface Position {
  /** The last receipt behind which nothing was left out. */
  seq: number;
  /** Its hash: a chain that was restored and went on differently has another there. */
  hash: string;
  /** What the caller saw: with other teams other receipts would have been sent. */
  sight: string;
}

/** Which rows row-level security shows the caller, in few characters. */
export function sightOf(caller: Caller): string {
  const { teamIds } = scopeOf(caller);
  return teamIds === 'all' ? teamIds : sha256([...teamIds].toSorted().join()).slice(0, 16);
}

/** Sealed for the device that they were given to: nobody else can use one, and nobody can make one up. */
@Injectable()
export class Cursors {
  constructor(private readonly secrets: SecretBox) {}

  write(caller: Caller, deviceId: string, position: Position): string {
    return this.secrets.seal(JSON.stringify(position), purposeOf(caller, deviceId));
  }

  /** @throws ValidationFailed for one that this device was not given */
  read(caller: Caller, deviceId: string, cursor: string): Position {
    if (!WRITTEN.test(cursor)) throw notGiven();
    try {
      return JSON.parse(this.secrets.open(cursor, purposeOf(caller, deviceId))) as Position;
    } catch (error) {
      if (!(error instanceof SecretUnreadable)) throw error;
      throw notGiven();
    }
  }
}

function notGiven(): Error {
  const message = 'since must be a cursor that this device was given; leave it out to begin anew';
  return new ValidationFailed({ details: [{ path: 'since', rule: 'isCursor', message }] });
}

function purposeOf({ workspaceId, memberId }: Caller, deviceId: string): string {
  return `hydrate ${workspaceId} ${memberId} ${deviceId}`;
}
