import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { Approvals } from '../approvals/approvals.repository.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { WorkPackets } from './packets/work-packets.repository.js';
import { DIRECTIVE_STATES } from './directive-states.js';
import type { DirectiveEntity } from './directive.entity.js';
import { Directives } from './directives.repository.js';
import { EndDirective } from './end-directive.js';

/** Cancels a directive before anything of it was sent. */
@Injectable()
export class CancelDirective {
  constructor(
    private readonly directives: Directives,
    private readonly approvals: Approvals,
    private readonly guardians: Guardians,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
  ) {}

  /** @throws NotFound; InvalidTransition once it is being sent or has ended */
  async execute(caller: Caller, directiveId: string): Promise<DirectiveEntity> {
    const { workspaceId } = caller;
    // A revert takes the same rows in another order, so the two take turns.
    await this.guardians.lockShared(workspaceId);
    const approval = await this.approvals.lockPending(workspaceId, directiveId);
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) throw new NotFound();
    requireRole(caller, directive.teamId, 'operator');
    const isUnsent =
      DIRECTIVE_STATES.sources('cancel').includes(directive.status) &&
      !(await this.packets.anyHandedOut(workspaceId, directiveId));
    if (!isUnsent) {
      throw new InvalidTransition({ details: { status: directive.status } });
    }
    const actor = actorOf(caller);
    this.endDirective.endFromOutside(directive, approval, {
      trigger: 'cancel',
      actor,
      because: `${caller.name} withdrew it`,
    });
    return (await this.directives.lock(workspaceId, directiveId))!;
  }
}
