import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { titleOf } from '../directives/directive.js';
import { HandInDirective, type NewDirective } from '../directives/hand-in-directive.js';
import { Conversations } from './conversations.repository.js';
import { addressesIn, plainWords } from './reply-text.js';

/** The same number as `POST /directive` has, so that the chat is no way around it. */
const MAX_DIRECTIVES_A_MINUTE = 20;

/** What a message asks capos to do, with all checks of `POST /directive`. */
@Injectable()
export class HandInFromChat {
  constructor(
    private readonly conversations: Conversations,
    private readonly handInDirective: HandInDirective,
    private readonly clock: Clock,
  ) {}

  /** Hands in what may be, and says what may not: the conversation goes on in either case. */
  async execute(
    caller: Caller,
    directives: readonly Pick<NewDirective, 'text' | 'capo'>[],
    teamId: string | undefined,
  ): Promise<{ lines: string[]; directiveIds: string[] }> {
    const lines: string[] = [];
    const directiveIds: string[] = [];
    if (directives.length === 0) return { lines, directiveIds };
    const lately = await this.conversations.lockHandedIn(caller, this.clock.now() - 60_000);
    for (const directive of directives) {
      const title = titleOf(directive.text);
      const shown = plainWords(title, addressesIn(title));
      if (lately + directiveIds.length >= MAX_DIRECTIVES_A_MINUTE) {
        lines.push(
          `"${shown}" was not handed in: at most ${MAX_DIRECTIVES_A_MINUTE} directives a minute. Try again in a minute.`,
        );
        continue;
      }
      try {
        const { directiveId, approvalId } = await this.handInDirective.execute(caller, {
          ...directive,
          ...(teamId !== undefined && { teamId }),
        });
        directiveIds.push(directiveId);
        lines.push(
          `Handed in: "${shown}", as ${directiveId}. What comes of it waits for approval as ${approvalId}; nothing is sent before.`,
        );
      } catch (error) {
        // It refuses before it writes anything.
        if (!(error instanceof DomainError) || error.status >= 500) throw error;
        lines.push(`"${shown}" was not handed in: ${reasonOf(error)}`);
      }
    }
    return { lines, directiveIds };
  }
}

function reasonOf({ message, details }: DomainError): string {
  const [first] = Array.isArray(details) ? (details as { message?: unknown }[]) : [];
  return typeof first?.message === 'string' ? `${first.message}.` : message;
}
