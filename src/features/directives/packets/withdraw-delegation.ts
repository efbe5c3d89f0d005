import { Injectable } from '@nestjs/common';
import { Approvals } from '../../approvals/index.js';
import { DIRECTIVE_STATES } from '../directive-states.js';
import { Directives } from '../directives.repository.js';
import { EndDirective } from '../end-directive.js';
import type { PacketToUndo, Undone } from './undo.js';
import { WorkPackets } from './work-packets.repository.js';

/**
 * Takes back that a directive was handed to another capo: it is cancelled, if nothing of it was carried out. What was carried out
 * of it came later than the delegation, so by its turn a revert has undone that; what could not be undone stays, and so does
 * the directive.
 */
@Injectable()
export class WithdrawDelegation {
  constructor(
    private readonly approvals: Approvals,
    private readonly directives: Directives,
    private readonly packets: WorkPackets,
    private readonly endDirective: EndDirective,
  ) {}

  /** In the open transaction, which has locked the guardian. */
  async execute(directiveId: string, { workspaceId, by }: PacketToUndo): Promise<Undone> {
    const approval = await this.approvals.lockPending(workspaceId, directiveId);
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) return { outcome: 'skipped', reason: 'The directive is gone.' };
    const { executed, underWay } = await this.packets.carriedOut(workspaceId, directiveId);
    if (executed + underWay > 0) {
      const reason = `The directive has been carried out, and ${executed + underWay} of its work packets could not be undone.`;
      return { outcome: 'not_possible', reason };
    }
    if (DIRECTIVE_STATES.sources('cancel').includes(directive.status)) {
      await this.endDirective.endFromOutside(directive, approval, {
        trigger: 'cancel',
        actor: by,
        because: `${by.name} had the work packet undone that handed it on`,
      });
    }
    return { outcome: 'done', result: { directiveId, was: directive.status } };
  }
}
