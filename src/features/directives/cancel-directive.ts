import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, isAskedBy, mayRead } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Db } from '../../platform/database/db.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { Work } from '../../platform/work/work.js';
import { Approvals } from '../approvals/index.js';
import { Guardians } from '../guardian/index.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { DIRECTIVE_STATES } from './directive-states.js';
import type { DirectiveEntity } from './directive.entity.js';
import { Directives } from './directives.repository.js';
import { EndDirective } from './end-directive.js';

/** Cancels a directive before anything of it was sent. */
@Injectable()
export class CancelDirective {
  constructor(
    private readonly db: Db,
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
    private readonly work: Work,
  ) {}

  /** @throws NotFound; InvalidTransition once it is being sent or has ended */
  async execute(caller: Caller, directiveId: string): Promise<DirectiveEntity> {
    const { workspaceId } = caller;
    // A revert takes the same rows in another order, so the two take turns.
    await this.guardians.lockShared(workspaceId);
    // Requesters may always withdraw it, even after changing teams.
    await this.db.unit.seeWholeWorkspace();
    const approval = await this.approvals.lockPending(workspaceId, directiveId);
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) throw new NotFound();
    if (!isAskedBy(caller, directive.requestedBy ?? directive.createdBy)) {
      if (!mayRead(caller, directive.teamId)) throw new NotFound();
      requireRole(caller, directive.teamId, 'operator');
    }
    const isUnsent =
      DIRECTIVE_STATES.sources('cancel').includes(directive.status) &&
      !(await this.packets.anyHandedOut(workspaceId, directiveId));
    // What is released goes, unless all of it still waits: standing orders delay it, or it is tried again later.
    const isReleased = directive.status === 'sending' && !(await this.doAllWait(workspaceId, directiveId));
    if (!isUnsent || isReleased) {
      throw new InvalidTransition({ details: { status: directive.status } });
    }
    const actor = actorOf(caller);
    await this.endDirective.endFromOutside(directive, approval, {
      trigger: 'cancel',
      actor,
      because: `${caller.name} withdrew it`,
    });
    return (await this.directives.lock(workspaceId, directiveId))!;
  }

  private async doAllWait(workspaceId: string, directiveId: string): Promise<boolean> {
    const open = await this.packets.open(workspaceId, directiveId);
    const released = open.filter(({ isDelayed }) => !isDelayed).map(({ workPacketId }) => workPacketId);
    if (open.length === 0 || !open.every(({ isQueued }) => isQueued)) return false;
    return (
      released.length === 0 || (await this.work.countPutOff('packet.send', released)) === released.length
    );
  }
}
