import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertMayIssue, issueToken } from './token.js';
import type { CreateTokenBody, NewToken } from './tokens.dto.js';
import { Tokens } from './tokens.repository.js';

/** Makes an operator token for the caller, or for another member of no higher role. */
@Injectable()
export class CreateToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound for no active member of the workspace, Forbidden for one with more rights than the caller */
  async execute(caller: Caller, body: CreateTokenBody): Promise<NewToken> {
    const { workspaceId } = caller;
    const createdAt = this.clock.now();
    const expiresAt = body.expiresAt ?? null;
    if (expiresAt !== null && expiresAt <= createdAt) {
      const message = 'expiresAt must be a time in the future';
      throw new ValidationFailed({ details: [{ path: 'expiresAt', rule: 'isAhead', message }] });
    }
    const holder = await this.tokens.lockMemberShared(workspaceId, body.memberId ?? caller.memberId);
    if (!holder) throw new NotFound();
    assertMayIssue(caller, holder.role);
    const { row, shown } = issueToken(caller, holder, { name: body.name, createdAt, expiresAt });
    this.tokens.add(row);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'token.created',
      entity: { type: 'token', id: row.tokenId },
      summary: `${caller.name} created the token "${row.name}" for ${holder.memberName}.`,
      details: { name: row.name, hint: row.hint, memberId: holder.memberId, expiresAt },
    });
    return shown;
  }
}
