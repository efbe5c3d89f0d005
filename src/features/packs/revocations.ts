import { statSync } from 'node:fs';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { readBounded, whyUnreadable } from '../../platform/config/secret-files.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { StartRefused } from '../../platform/kernel/start-refused.js';
import { PublisherKeys } from './publisher-keys.js';
import {
  contradictions,
  ListUnusable,
  newestLists,
  type PackName,
  readRevocations,
  revocationOf,
  type SignedList,
} from './revocation-list.js';
import { RevocationLists } from './revocation-lists.repository.js';
import { SkillPacks } from './skill-packs.repository.js';

const LOOK_EVERY_MS = 5_000;
const ENQUEUED_AT_ONCE = 500;
const MAX_FILE_BYTES = 1024 * 1024;
const OF_THE_SERVICE: Scope = { workspaceId: '', teamIds: [] };

/**
 * What publishers revoke: the lists of the file of SKILL_PACK_REVOCATIONS, which is read again whenever it has changed, and those
 * that any process has read before. Of each publisher the list with the highest number holds, also after a restart; a
 * file that is gone, cannot be used or has an older list takes nothing back.
 */
@Injectable()
export class Revocations implements OnModuleInit {
  #running = false;
  /** What the file says. */
  #inFile: readonly SignedList[] = [];
  /** What was read from the file, also before it changed. */
  #read: readonly SignedList[] = [];
  /** What is kept for every process, as far as this one has seen it. */
  #kept: readonly SignedList[] = [];
  /** What tells one state of the file from another; of the last one that could be read. */
  #seen: string | undefined;
  #complaints: readonly string[] = [];
  /** What was said already. */
  #said: ReadonlySet<string> = new Set();

  constructor(
    private readonly config: Config,
    private readonly keys: PublisherKeys,
    private readonly lists: RevocationLists,
    private readonly packs: SkillPacks,
    private readonly logger: PinoLogger,
  ) {}

  /** @throws StartRefused for a file that cannot be used: nothing of it would be revoked, and nobody would know */
  onModuleInit(): void {
    try {
      this.readAgain();
    } catch (error) {
      throw new StartRefused(`SKILL_PACK_REVOCATIONS cannot be used: ${reasonOf(error)}.`);
    }
  }

  @Interval(LOOK_EVERY_MS)
  async inBackground(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    await this.enqueueRevoked().catch((error: unknown) =>
      this.logger.warn(
        { err: error },
        'revoked skill packs could not be looked for; the next look follows in 5 s',
      ),
    );
    this.#running = false;
  }

  /**
   * Looks for what publishers revoke, and shares it with the other processes. Workers enqueue one piece of work for each such
   * pack, in every workspace that has it.
   */
  async enqueueRevoked(): Promise<void> {
    const lists = await this.share();
    if (this.config.processRole !== 'api') await this.packs.enqueueRevoked(lists, ENQUEUED_AT_ONCE);
  }

  /** The lists that hold by now. */
  private async current(scope: Scope): Promise<SignedList[]> {
    const fault = this.lookAtFile();
    this.#kept = newestLists([
      ...this.#kept,
      ...(await this.lists.beyond(
        scope,
        this.keys.all.map((key) => ({ ...key, number: numberOf(this.#kept, key.publisher) })),
      )),
    ]);
    this.report(fault, [...this.#complaints, ...contradictions(this.#kept, this.#inFile)]);
    return newestLists([...this.#kept, ...this.#read]);
  }

  /** {@link current}; what this process alone knows of them is kept for the others, and for the next start. */
  private async share(): Promise<SignedList[]> {
    const current = await this.current(OF_THE_SERVICE);
    for (const signed of current) {
      if (signed.list.number <= numberOf(this.#kept, signed.list.publisher)) continue;
      await this.lists.keep(signed);
      this.#kept = newestLists([...this.#kept, signed]);
    }
    return current;
  }

  /** Why its publisher revokes this pack; undefined when it does not. */
  async reasonFor(scope: Scope, pack: PackName): Promise<string | undefined> {
    return revocationOf(await this.current(scope), pack);
  }

  /** Answers what is wrong with the file as a whole. */
  private lookAtFile(): string | undefined {
    try {
      this.readAgain();
      return undefined;
    } catch (error) {
      return reasonOf(error);
    }
  }

  /** Reads the file if it has changed since it could be read. */
  private readAgain(): void {
    const { skillPackRevocations: path } = this.config;
    if (path === undefined) return;
    const state = stateOf(path);
    if (state === this.#seen) return;
    const { lists, complaints } = readRevocations(readBounded(path, MAX_FILE_BYTES), this.keys);
    this.#inFile = lists;
    this.#read = newestLists([...this.#read, ...lists]);
    this.#complaints = complaints;
    this.#seen = state;
  }

  /** Each fault is said once while it lasts. */
  private report(fault: string | undefined, complaints: readonly string[]): void {
    for (const reason of complaints) {
      if (this.#said.has(reason)) continue;
      this.logger.error({ reason }, 'a list of SKILL_PACK_REVOCATIONS cannot be used, and is left out');
    }
    if (fault !== undefined && !this.#said.has(fault)) {
      this.logger.error(
        { reason: fault },
        'SKILL_PACK_REVOCATIONS cannot be used any more: what was revoked stays so, and nothing new is known',
      );
    }
    this.#said = new Set(fault === undefined ? complaints : [...complaints, fault]);
  }
}

function numberOf(lists: readonly SignedList[], publisher: string): number {
  return lists.find(({ list }) => list.publisher === publisher)?.list.number ?? 0;
}

function stateOf(path: string): string {
  const { ino, size, mtimeMs } = statSync(path);
  return `${ino} ${size} ${mtimeMs}`;
}

function reasonOf(error: unknown): string {
  return error instanceof ListUnusable ? error.message : `it ${whyUnreadable(error)}`;
}
