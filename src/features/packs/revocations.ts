import { statSync } from 'node:fs';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { readBounded, whyUnreadable } from '../../platform/config/secret-files.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import { PublisherKeys } from './publisher-keys.js';
import {
  ListUnusable,
  newestLists,
  type PackName,
  readRevocations,
  type RevocationList,
  revocationOf,
} from './revocation-list.js';

const MAX_FILE_BYTES = 1024 * 1024;

/**
 * What publishers revoke, from the file of SKILL_PACK_REVOCATIONS. It is read again whenever it has changed. A file that cannot
 * be used any more, or has an older list, takes nothing back: what was revoked stays so.
 */
@Injectable()
export class Revocations implements OnModuleInit {
  #lists: readonly RevocationList[] = [];
  /** What tells one state of the file from another. */
  #seen: string | undefined;
  /** What was wrong with the file when it was last looked at; said once. */
  #fault: string | undefined;

  constructor(
    private readonly config: Config,
    private readonly keys: PublisherKeys,
    private readonly logger: PinoLogger,
  ) {}

  /** @throws StartRefused for a file that cannot be used: nothing of it would be revoked, and nobody would know */
  onModuleInit(): void {
    const { skillPackRevocations: path } = this.config;
    if (path === undefined) return;
    try {
      this.#seen = stateOf(path);
      this.#lists = this.read(path);
    } catch (error) {
      throw new StartRefused(`SKILL_PACK_REVOCATIONS cannot be used: ${reasonOf(error)}.`);
    }
  }

  /** The lists as they are by now. */
  lists(): readonly RevocationList[] {
    this.refresh();
    return this.#lists;
  }

  /** Why its publisher revokes this pack; undefined when it does not. */
  reasonFor(pack: PackName): string | undefined {
    return revocationOf(this.lists(), pack);
  }

  private refresh(): void {
    const { skillPackRevocations: path } = this.config;
    if (path === undefined) return;
    try {
      const state = stateOf(path);
      if (state === this.#seen) return;
      this.#seen = state;
      this.#lists = newestLists(this.#lists, this.read(path));
      this.#fault = undefined;
    } catch (error) {
      this.report(reasonOf(error));
    }
  }

  private read(path: string): RevocationList[] {
    return readRevocations(readBounded(path, MAX_FILE_BYTES), this.keys);
  }

  private report(reason: string): void {
    if (reason === this.#fault) return;
    this.#fault = reason;
    this.logger.error(
      { reason },
      'SKILL_PACK_REVOCATIONS cannot be used any more: what was revoked stays so, and nothing new is known',
    );
  }
}

function stateOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function reasonOf(error: unknown): string {
  return error instanceof ListUnusable ? error.message : `it ${whyUnreadable(error)}`;
}
