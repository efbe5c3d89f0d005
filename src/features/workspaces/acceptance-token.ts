import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { issueToken } from './token.js';
import type { NewToken } from './tokens.dto.js';
import { Tokens } from './tokens.repository.js';

/**
 * The token of a member who accepts an invite by a program, or asks for one on the page of the invite. Every other token is made by somebody who calls with one, and
 * so in the end by an owner, who is behind whatever is done with it (four eyes). This one nobody else has seen.
 */
@Injectable()
export class AcceptanceToken {
  constructor(
    private readonly tokens: Tokens,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** In the open transaction, for a member whose password has been proved. */
  issue(workspaceId: string, actor: Actor): NewToken {
    const { id: memberId, name: memberName } = actor;
    const { row, shown } = issueToken(
      { workspaceId, memberId, tokenMadeBy: [] },
      { memberId, memberName },
      { name: 'from accepting the invite', createdAt: this.clock.now(), expiresAt: null },
    );
    this.tokens.add(row);
    this.receipts.append({
      actor,
      action: 'token.created',
      entity: { type: 'token', id: row.tokenId },
      summary: `${memberName} was given the token "${row.name}", which nobody else has seen.`,
      details: { name: row.name, hint: row.hint, memberId, expiresAt: null },
    });
    return shown;
  }
}
