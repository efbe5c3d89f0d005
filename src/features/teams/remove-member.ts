import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { assertMayGrant } from '../workspaces/member.js';
import type { MemberView } from '../workspaces/members.dto.js';
import { Members, viewOf } from '../workspaces/members.repository.js';
import { LastOwner } from './teams.errors.js';

/** Ends a membership: the member leaves every team, and no token of theirs opens anything from the COMMIT on. */
@Injectable()
export class RemoveMember {
  constructor(
    private readonly members: Members,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /** @throws NotFound, Forbidden for a member with a role that the caller may not grant, LastOwner */
  async execute(caller: Caller, uid: string): Promise<MemberView> {
    const { workspaceId } = caller;
    const member = await this.members.get(workspaceId, uid);
    assertMayGrant(caller, member.role);
    if (member.role === 'owner' && (await this.members.count(workspaceId)).owners === 1)
      throw new LastOwner();
    this.remove(caller, member);
    return { ...viewOf(member), status: 'removed', teams: [] };
  }

  /** In the open transaction, for whoever has found out that it may be. */
  remove(
    caller: Caller,
    { memberId, displayName }: Pick<MemberView, 'memberId' | 'displayName'>,
    because?: string,
  ): void {
    this.members.remove(caller.workspaceId, memberId, this.clock.now());
    this.receipts.append({
      actor: actorOf(caller),
      action: 'member.removed',
      entity: { type: 'member', id: memberId },
      summary: `${caller.name} removed ${displayName} from the workspace${because === undefined ? '' : `, since ${because}`}.`,
      details: { memberId },
    });
  }
}
