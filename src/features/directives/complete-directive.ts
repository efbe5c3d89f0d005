import { Injectable } from '@nestjs/common';
import { type Actor, SYSTEM } from '../../platform/auth/caller.js';
import { cutText } from '../../platform/kernel/text.js';
import {
  type Action,
  type ActionResult,
  type ActionTypeName,
  capoActor,
  CAPOS,
  LIMITS,
} from '../capos/index.js';
import { GUARDIAN, PolicyDenied } from '../guardian/index.js';
import { Signals } from '../records/index.js';
import { DirectiveTransitions, type Named } from './directive-transitions.js';
import type { DirectiveEntity } from './directive.entity.js';
import { titleOf } from './directive.js';
import { Directives } from './directives.repository.js';
import type { DuePacket } from './packets/due-packets.repository.js';
import { PacketEscalations } from './packets/packet-escalations.js';
import { PacketTallies, type PacketTally, tallyOfOnly } from './packets/packet-tallies.reader.js';
import type { PacketResult, WorkPacketEntity } from './packets/work-packet.entity.js';

/** What was done, for the feed: in the word for it, and loud about a mail that nobody has received. */
export function executedSentence(
  capo: string,
  title: string,
  { type }: Action,
  result: ActionResult,
): string {
  switch (type) {
    case 'email.send':
      return result['transport'] === 'file'
        ? `${capo} wrote the mail "${title}" to a file (${String(result['response'])}); nobody has received it, since no mail server is configured.`
        : `${capo} sent the mail "${title}".`;
    case 'webhook.post':
      return `${capo} posted "${title}".`;
    case 'http.call':
      return `${capo} made the call "${title}".`;
    case 'document.file':
      return `${capo} filed the document "${title}".`;
    case 'signal.raise':
      return `${capo} raised the signal "${title}".`;
    case 'revenue.record':
      return `${capo} recorded "${title}".`;
    case 'directive.create':
      return `${capo} handed on "${title}".`;
    case 'standing_order.propose':
      return `${capo} proposed "${title}", which waits for somebody to activate it.`;
  }
}

/** A mail of which only a person says that it arrived has no transport. */
type Deed = ActionTypeName | 'email.send/smtp' | 'email.send/file';

/** What was done, by action type and transport: "filed a document" shows that nothing left. */
const DEEDS: Readonly<Record<Deed, readonly [one: string, several: string]>> = {
  'email.send': ['sent a mail', 'sent # mails'],
  'email.send/smtp': ['sent a mail', 'sent # mails'],
  'email.send/file': ['wrote a mail to a file', 'wrote # mails to files'],
  'document.file': ['filed a document', 'filed # documents'],
  'webhook.post': ['posted an event', 'posted # events'],
  'http.call': ['made a call', 'made # calls'],
  'signal.raise': ['raised a signal', 'raised # signals'],
  'revenue.record': ['recorded a revenue event', 'recorded # revenue events'],
  'directive.create': ['handed a directive to another capo', 'handed # directives to other capos'],
  'standing_order.propose': ['proposed a standing order', 'proposed # standing orders'],
};

/** Work packets of one directive are mostly denied for one reason. */
const MOST_DENIALS = 3;

type Completed = Named & Pick<DirectiveEntity, 'capo' | 'deadline'>;

/** A directive, locked, and how its packets have ended. */
export interface Look {
  directive: (Completed & Pick<DirectiveEntity, 'text'>) | undefined;
  tally: PacketTally;
}

/** Ends a directive when the last of its packets has ended. */
@Injectable()
export class CompleteDirective {
  constructor(
    private readonly directives: Directives,
    private readonly tallies: PacketTallies,
    private readonly transitions: DirectiveTransitions,
    private readonly escalations: PacketEscalations,
    private readonly signals: Signals,
  ) {}

  /**
   * One of its packets has ended, in the open transaction. The directive is locked before its packets are counted: of two
   * packets that end at the same moment the second waits, and then sees that both have ended.
   */
  async packetEnded(workspaceId: string, directiveId: string): Promise<void> {
    await this.continue(await this.look({ workspaceId, directiveId }));
  }

  /** {@link packetEnded}, in two: what is known of the directive once this packet is executed, and what comes of that. */
  lookAhead(packet: WorkPacketEntity, result: PacketResult): Promise<Look> {
    return this.look(packet, { workPacketId: packet.workPacketId, result });
  }

  /** {@link lookAhead} of the only packet of a directive that is being sent. */
  foresee(packet: DuePacket, result: PacketResult): Look {
    const { workspaceId, directiveId, teamId, capo, deadline, directiveText: text } = packet;
    const directive = { workspaceId, directiveId, teamId, capo, deadline, text, status: 'sending' } as const;
    return { directive, tally: tallyOfOnly(packet, result) };
  }

  async continue({ directive, tally }: Look): Promise<void> {
    // Halted: the revert counts again. Anything else has ended already, or waits for a person.
    if (directive?.status === 'sending' && tally.open === 0)
      await this.complete(directive, titleOf(directive.text), tally);
  }

  private async look(
    { workspaceId, directiveId }: Pick<WorkPacketEntity, 'workspaceId' | 'directiveId'>,
    executed?: { workPacketId: string; result: PacketResult },
  ): Promise<Look> {
    const [directive, tally] = await Promise.all([
      this.directives.lock(workspaceId, directiveId),
      this.tallies.of(workspaceId, directiveId, executed),
    ]);
    return { directive, tally };
  }

  /** It is known by now that a packet arrived of which nobody here could tell; the directive is locked. */
  async confirmed(directive: DirectiveEntity, by: Actor, because: string): Promise<void> {
    const { workspaceId, directiveId, status, text } = directive;
    if (status !== 'failed') {
      await this.packetEnded(workspaceId, directiveId);
      return;
    }
    const tally = await this.tallies.of(workspaceId, directiveId);
    if (tally.open + tally.failed + tally.denied > 0) return;
    const summary = `"${titleOf(text)}" has been carried out. ${because}`;
    this.transitions.apply(directive, 'confirm', { actor: by, action: 'directive.executed', summary });
    this.directives.update(directive, { error: null });
  }

  /** It is known by now that a packet of a failed directive did not leave; the directive is locked. */
  async failedUnsent(directive: DirectiveEntity): Promise<void> {
    if (directive.status !== 'failed') return;
    const tally = await this.tallies.of(directive.workspaceId, directive.directiveId);
    await this.escalations.directive(directive, titleOf(directive.text), tally);
  }

  /** A revert has let these go on, which are being sent: their packets may all have ended while they were halted. */
  async resumed(
    workspaceId: string,
    sending: readonly (Omit<Completed, 'workspaceId'> & Pick<DirectiveEntity, 'text'>)[],
  ): Promise<void> {
    const tallies = await this.tallies.ofEach(
      workspaceId,
      sending.map(({ directiveId }) => directiveId),
    );
    for (const directive of sending) {
      const tally = tallies.get(directive.directiveId);
      if (tally?.open !== 0) continue;
      await this.complete({ ...directive, workspaceId }, titleOf(directive.text), tally);
    }
  }

  /** Ends a directive whose packets have all ended. */
  private async complete(directive: Completed, title: string, tally: PacketTally): Promise<void> {
    const capo = directive.capo!;
    const actor = capoActor(capo);
    const unsent = tally.failed + tally.denied;
    if (unsent > 0) {
      const denials = tally.denials.slice(0, MOST_DENIALS);
      const counted = `${unsent} of its work packets could not be carried out.`;
      const isDenied = tally.failed === 0 && denials.length > 0;
      const error = {
        code: tally.failed > 0 ? 'PACKET_FAILED' : PolicyDenied.code,
        message: (isDenied ? denials : [counted, ...denials]).join(' '),
      };
      this.transitions.apply(
        directive,
        'fail',
        {
          actor,
          action: 'directive.failed',
          outcome: 'failure',
          summary: `"${title}" failed: ${error.message}`,
          details: error,
        },
        { error },
      );
      if (tally.deniedApproved > 0) this.signalDenial(directive, title, denials);
      await this.escalations.directive(directive, title, tally);
    } else if (tally.reverted > 0 && tally.executed === 0) {
      const summary = `The part of "${title}" that was carried out has been undone.`;
      this.transitions.apply(directive, 'revert', { actor: SYSTEM, action: 'directive.reverted', summary });
    } else if (tally.expired > 0 && tally.executed === 0) {
      const summary = `"${title}" expired: its deadline passed before anything was sent.`;
      this.transitions.apply(directive, 'expire', { actor: SYSTEM, action: 'directive.expired', summary });
    } else {
      const rest = tally.expired > 0 ? '; its deadline passed before the rest was sent' : '';
      const summary = `${CAPOS[capo].name} ${executedTogether(tally.done)} for "${title}"${rest}.`;
      this.transitions.apply(directive, 'complete', { actor, action: 'directive.executed', summary });
    }
  }

  /** The approver was told that it is on its way. */
  private signalDenial(
    { capo, teamId, directiveId }: Completed,
    title: string,
    denials: readonly string[],
  ): void {
    this.signals.raise({
      type: 'agent',
      severity: 'warning',
      title: cutText(`Not sent though approved: ${title}`, LIMITS.title),
      body: cutText(
        `It was approved, and denied when it was about to leave. ${denials.join(' ')}`,
        LIMITS.signal,
      ),
      source: GUARDIAN,
      teamId,
      capo,
      entity: { type: 'directive', id: directiveId },
    });
  }
}

/** The same of all work packets of a directive together, each by its {@link Deed}. */
function executedTogether(done: readonly string[]): string {
  const deeds = [...Map.groupBy(done as readonly Deed[], (deed) => deed)].map(([deed, { length }]) => {
    const [one, several] = DEEDS[deed];
    return length === 1 ? one : several.replace('#', String(length));
  });
  return deeds.length === 0 ? 'prepared nothing' : new Intl.ListFormat('en').format(deeds);
}
