import { Injectable } from '@nestjs/common';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { Workspaces } from './workspaces.repository.js';

/** Zones that may be stored: those that the database knows as well, since days and windows begin there too. */
@Injectable()
export class KnownZone {
  constructor(private readonly workspaces: Workspaces) {}

  /** @throws ValidationFailed at `path` for a zone that only the program knows; nothing to check is fine */
  async require(zone: string | null | undefined, path: string): Promise<void> {
    if (zone === null || zone === undefined || (await this.workspaces.knowsZone(zone))) return;
    const message = `${path} must be a time zone that the database supports, such as Europe/Berlin; it does not support ${zone}`;
    throw new ValidationFailed({ details: [{ path, rule: 'isKnownZone', message }] });
  }
}
