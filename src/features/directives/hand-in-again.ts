import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, peopleBehind } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { AssertWanted } from './assert-wanted.js';
import { titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import { HandInDirective } from './hand-in-directive.js';

/** Hands in a directive again whose approval nobody decided on in time: as a new one, with a new draft and a new approval. */
@Injectable()
export class HandInAgain {
  constructor(
    private readonly directives: Directives,
    private readonly handIn: HandInDirective,
    private readonly wanted: AssertWanted,
  ) {}

  /** Answers what came of it. @throws NotFound, Forbidden; InvalidTransition unless it expired, after its deadline, or in an archived team */
  async execute(caller: Caller, directiveId: string): Promise<string> {
    const { workspaceId } = caller;
    const directive = await this.directives.lock(workspaceId, directiveId);
    if (!directive) throw new NotFound();
    const { teamId, text, routedBy, capo, priority, requiresApproval, context, deadline } = directive;
    requireRole(caller, teamId, 'operator');
    await this.wanted.execute(directive, 'expired');
    // Both the first and the second requester count as requesters, so neither is the other's second pair of eyes.
    const onBehalfOf = {
      requestedBy: directive.requestedBy ?? directive.createdBy,
      requesterIds: [...new Set([...directive.requesterIds, ...peopleBehind(caller)])],
    };
    const again = this.handIn.accept(
      {
        text,
        ...(routedBy === 'operator' && capo && { capo }),
        priority,
        requiresApproval,
        context: { ...context, handedInAgainFrom: directiveId },
        ...(deadline !== null && { deadline: new Date(deadline).toISOString() }),
      },
      { workspaceId, teamId, actor: actorOf(caller), onBehalfOf },
    );
    return `${caller.name} handed in "${titleOf(text)}" again, as ${again.directiveId}.`;
  }
}
