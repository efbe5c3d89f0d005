import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { Config } from '../../platform/config/config.js';
import { Revocations } from './revocations.js';
import { SkillPacks } from './skill-packs.repository.js';

const LOOK_EVERY_MS = 5_000;
const ENQUEUED_AT_ONCE = 500;

/**
 * Looks for what publishers revoke, and shares it with the other processes. Workers enqueue one piece of work for each such
 * pack, in every workspace that has it.
 */
@Injectable()
export class EnqueueRevoked {
  #running = false;

  constructor(
    private readonly config: Config,
    private readonly revocations: Revocations,
    private readonly packs: SkillPacks,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  async inBackground(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    await this.execute().catch((error: unknown) =>
      this.logger.warn(
        { err: error },
        'revoked skill packs could not be looked for; the next look follows in 5 s',
      ),
    );
    this.#running = false;
  }

  async execute(): Promise<void> {
    const lists = await this.revocations.share();
    if (this.config.processRole !== 'api') await this.packs.enqueueRevoked(lists, ENQUEUED_AT_ONCE);
  }
}
