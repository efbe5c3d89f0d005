import { Injectable } from '@nestjs/common';
import type { Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { DomainError } from '../../platform/kernel/define-error.js';
import { HandInDirective } from '../directives/hand-in-directive.js';
import { Conversations } from './conversations.repository.js';
import { addressesIn, plainWords } from './reply-text.js';
import type { MemberRequest } from './requests.js';

/** The same number as `POST /directive` has, so that the chat is no way around it. */
const MAX_DIRECTIVES_A_MINUTE = 20;

const WHY_NOT: Readonly<Record<NonNullable<MemberRequest['governor']>, string>> = {
  negation:
    'it says what not to do, or is taken back. Say what is to be done; a standing order keeps capos from what they are not to do.',
  question: 'it is a question. Say it without the question mark to have it done.',
};

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
    requests: readonly MemberRequest[],
    teamId: string | undefined,
  ): Promise<{ lines: string[]; directiveIds: string[] }> {
    const lines: string[] = [];
    const directiveIds: string[] = [];
    if (requests.length === 0) return { lines, directiveIds };
    const lately = await this.conversations.lockHandedIn(caller, this.clock.now() - 60_000);
    for (const { text, capo, governor } of requests) {
      // All of it: what a member reads here is what is handed in.
      const shown = plainWords(text, addressesIn(text));
      if (governor) {
        lines.push(`"${shown}" was not handed in: ${WHY_NOT[governor]}`);
        continue;
      }
      if (lately + directiveIds.length >= MAX_DIRECTIVES_A_MINUTE) {
        lines.push(
          `"${shown}" was not handed in: at most ${MAX_DIRECTIVES_A_MINUTE} directives a minute. Try again in a minute.`,
        );
        continue;
      }
      try {
        const { directiveId, approvalId } = await this.handInDirective.execute(caller, {
          text,
          ...(capo !== null && { capo }),
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
