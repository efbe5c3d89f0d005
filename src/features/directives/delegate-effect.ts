import { Injectable, type OnModuleInit } from '@nestjs/common';
import { capoActor } from '../capos/capo-actor.js';
import { ActionEffects } from './packets/action-effects.js';
import { Directives } from './directives.repository.js';
import { HandInDirective } from './hand-in-directive.js';

/** Lets a capo hand work to another: the new directive stops at a person like any other. */
@Injectable()
export class DelegateEffect implements OnModuleInit {
  constructor(
    private readonly effects: ActionEffects,
    private readonly directives: Directives,
    private readonly handIn: HandInDirective,
  ) {}

  onModuleInit(): void {
    this.effects.register('directive.create', {
      kind: 'inside',
      run: async ({ params, workspaceId, teamId, directiveId, capo }) => {
        const { directive: text, capo: to, priority } = params;
        const context = { delegatedBy: capo, delegatedFrom: directiveId };
        const onBehalfOf = await this.directives.requesterOf(workspaceId, directiveId);
        const by = { workspaceId, teamId, actor: capoActor(capo), onBehalfOf };
        const directive = this.handIn.accept({ text, capo: to, ...(priority && { priority }), context }, by);
        return { directiveId: directive.directiveId };
      },
    });
  }
}
