import { Injectable } from '@nestjs/common';
import { PinoLogger } from 'nestjs-pino';
import { scopeOf } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { Db } from '../../platform/database/db.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { EndSession } from './end-session.js';

/** It opens nothing any more, or another request has just ended it, which its look-up need not know yet. */
const HAS_ENDED: ReadonlySet<number> = new Set([401, 404]);

/** Ends the session that the browser had before a sign-in: its cookie is replaced, so nobody could end it any more. */
@Injectable()
export class EndFormerSession {
  constructor(
    private readonly callers: Callers,
    private readonly db: Db,
    private readonly endSession: EndSession,
    private readonly logger: PinoLogger,
  ) {}

  /** Never fails: the sign-in is committed, and the former session ends by itself within its twelve hours. */
  async execute(secret: string | undefined): Promise<void> {
    if (secret === undefined) return;
    try {
      const former = await this.callers.identifySession(secret, { beforeSecondFactor: true });
      await this.db.transaction(scopeOf(former), () => this.endSession.execute(former, former.credentialId));
    } catch (error) {
      if (error instanceof DomainError && HAS_ENDED.has(error.status)) return;
      this.logger.warn(
        { err: error },
        'the session that the browser had before a sign-in could not be ended',
      );
    }
  }
}
