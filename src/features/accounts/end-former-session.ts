import { Injectable } from '@nestjs/common';
import { scopeOf } from '../../platform/auth/caller.js';
import { Callers } from '../../platform/auth/callers.js';
import { Db } from '../../platform/database/db.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { EndSession } from './end-session.js';

/** Ends the session that the browser had before a sign-in: its cookie is replaced, so nobody could end it any more. */
@Injectable()
export class EndFormerSession {
  constructor(
    private readonly callers: Callers,
    private readonly db: Db,
    private readonly endSession: EndSession,
  ) {}

  /** Nothing happens without a secret, and for one that opens nothing any more. */
  async execute(secret: string | undefined): Promise<void> {
    const former = await this.callers.identifySession(secret).catch((error: unknown) => {
      if (error instanceof DomainError && error.status === 401) return undefined;
      throw error;
    });
    if (!former) return;
    await this.db.transaction(scopeOf(former), () => this.endSession.execute(former, former.credentialId));
  }
}
