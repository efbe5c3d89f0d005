import { Injectable } from '@nestjs/common';
import {
  APPROVE_ONCE,
  ARRIVED,
  BUDGET_EXCEEDED,
  DID_NOT_ARRIVE,
  DISMISS,
  Escalations,
  KILL_UNCONFIRMED,
  PACKET_FAILED,
  RETRY,
  SEND_AGAIN,
} from '../../escalations/index.js';
import { type Decision, isDeniedByBudget } from '../../standing-orders/index.js';
import type { DirectiveEntity } from '../directive.entity.js';
import { Directives } from '../directives.repository.js';
import type { RecipientOutcome } from './packet-effect.js';
import type { PacketTally } from './packet-tallies.reader.js';
import type { WorkPacketEntity } from './work-packet.entity.js';

/** What an escalation is about that stands for the failed directives of one team, or of none. */
export const FAILED_DIRECTIVES = 'failed_directives';

/** So many failures of a team are told one by one; one escalation stands for the rest (docs/decisions/0019). */
const MOST_ONE_BY_ONE = 20;

/**
 * Opens the escalations of work packets that failed or that a budget denied, in the transaction in which that happened: of
 * those that certainly did not leave, one for their directive; of those that nobody here can tell about, one each.
 */
@Injectable()
export class PacketEscalations {
  constructor(
    private readonly escalations: Escalations,
    private readonly directives: Directives,
  ) {}

  /** The directive has ended as failed; it is locked. */
  async directive(
    directive: Pick<DirectiveEntity, 'workspaceId' | 'directiveId' | 'teamId' | 'deadline'>,
    title: string,
    { failedUnsent, failure }: PacketTally,
  ): Promise<void> {
    if (failedUnsent === 0) return;
    const { directiveId, teamId, deadline } = directive;
    const options = [RETRY, DISMISS];
    const open = await this.escalations.countOpen(PACKET_FAILED, teamId, MOST_ONE_BY_ONE);
    if (open >= MOST_ONE_BY_ONE) {
      await this.together(directive, failure);
      return;
    }
    const what = failedUnsent === 1 ? 'A work packet' : `${failedUnsent} work packets`;
    await this.escalations.open({
      kind: PACKET_FAILED,
      entity: { type: 'directive', id: directiveId },
      teamId,
      directiveId,
      reason: `${what} of "${title}" failed and ${failedUnsent === 1 ? 'was' : 'were'} not sent: ${failure ?? ''}`,
      options,
      dueAt: deadline,
    });
  }

  /** A budget, and nothing else, has denied these packets of a directive. */
  async overBudget(
    { directiveId, teamId }: Pick<DirectiveEntity, 'directiveId' | 'teamId'>,
    title: string,
    decisions: readonly Decision[],
  ): Promise<void> {
    const denied = decisions.filter(({ outcome }) => outcome === 'deny');
    if (denied.length === 0 || !denied.every(isDeniedByBudget)) return;
    const isOneMore =
      (await this.escalations.countOpen(BUDGET_EXCEEDED, teamId, MOST_ONE_BY_ONE)) >= MOST_ONE_BY_ONE;
    await this.escalations.open({
      kind: BUDGET_EXCEEDED,
      entity: isOneMore
        ? { type: 'standing_order', id: budgetOf(denied[0]!) }
        : { type: 'directive', id: directiveId },
      teamId,
      directiveId: isOneMore ? null : directiveId,
      reason: `"${title}" was stopped by a budget. ${denied[0]!.explanation[0] ?? ''}`,
      options: isOneMore ? [DISMISS] : [APPROVE_ONCE, RETRY, DISMISS],
      dueAt: null,
      counts: isOneMore,
    });
  }

  /** The mail server did not take a mail for these, of whom nobody is tried any more; others have it. */
  async notReached(packet: WorkPacketEntity, recipients: readonly RecipientOutcome[]): Promise<void> {
    const missing = recipients.filter(({ outcome }) => outcome !== 'accepted');
    if (missing.length === 0) return;
    const each = missing.map(({ address, answer }) => `${address} (${answer})`).join('; ');
    await this.about(
      packet,
      `"${packet.title}" did not reach everybody. It was not accepted for ${each}. The others have it: write to those left out in a new mail.`,
    );
  }

  /** A repeat had begun when it became known that the attempt before it took effect. */
  twice(packet: WorkPacketEntity, attempt: number): Promise<void> {
    const reason = `"${packet.title}" may have arrived twice: it was sent again before the outcome of attempt ${attempt} was known, and that attempt took effect.`;
    return this.about(packet, reason);
  }

  /** It is known late that it took effect, and it has been taken back or denied since. */
  afterAll(packet: WorkPacketEntity): Promise<void> {
    return this.about(packet, `"${packet.title}" arrived after all; it is ${packet.status} here.`);
  }

  /** A person has said that it arrived, and it is known late that it did not. */
  notAfterAll(packet: WorkPacketEntity, message: string): Promise<void> {
    return this.about(packet, `"${packet.title}" did not arrive, though a person said so: ${message}`);
  }

  /** It is known by now what a person was asked about a packet. */
  async answered({ workPacketId }: WorkPacketEntity, because: string): Promise<void> {
    for (const kind of [PACKET_FAILED, KILL_UNCONFIRMED] as const)
      await this.escalations.resolveAbout(kind, { type: 'work_packet', id: workPacketId }, because);
  }

  /** In place of what is open about the packet: what is known now. Nothing can be done here but to know it. */
  private async about(packet: WorkPacketEntity, reason: string): Promise<void> {
    const { workPacketId, teamId, directiveId } = packet;
    const entity = { type: 'work_packet', id: workPacketId };
    await this.escalations.resolveAbout(PACKET_FAILED, entity, 'More is known of it by now.');
    await this.escalations.open({
      kind: PACKET_FAILED,
      entity,
      teamId,
      directiveId,
      reason,
      options: [DISMISS],
      dueAt: null,
    });
  }

  /** A packet of which nobody here can tell whether it arrived. One that was escalated by a kill stays so. */
  async unconfirmed(packet: WorkPacketEntity, message: string, isKilled: boolean): Promise<void> {
    const { workPacketId, teamId, directiveId, title } = packet;
    const entity = { type: 'work_packet', id: workPacketId };
    if (!isKilled && (await this.escalations.findOpen(KILL_UNCONFIRMED, entity))) return;
    if (!isKilled) await this.escalations.resolveAbout(PACKET_FAILED, entity, 'More is known of it by now.');
    await this.escalations.open({
      kind: isKilled ? KILL_UNCONFIRMED : PACKET_FAILED,
      entity,
      teamId,
      directiveId,
      reason: `Did "${title}" arrive? ${message}`,
      options: isKilled ? [ARRIVED, SEND_AGAIN, DISMISS] : [ARRIVED, DID_NOT_ARRIVE, DISMISS],
      dueAt: null,
    });
  }

  /** In an outage everything fails, and nobody reads a list of it: the rest is told together. */
  private async together(
    directive: Pick<DirectiveEntity, 'workspaceId' | 'directiveId' | 'teamId'>,
    failure: string | null,
  ): Promise<void> {
    const { workspaceId, teamId } = directive;
    const escalationId = await this.escalations.open({
      kind: PACKET_FAILED,
      entity: { type: FAILED_DIRECTIVES, id: teamId ?? workspaceId },
      teamId,
      reason: `More than ${MOST_ONE_BY_ONE} directives wait for a decision because they failed, so the others are counted together. The first of these: ${failure ?? ''}`,
      options: [RETRY, DISMISS],
      dueAt: null,
      counts: true,
    });
    this.directives.update(directive, { escalationId });
  }
}

function budgetOf({ limits }: Decision): string {
  return limits.find(({ limit, holds }) => limit === 'budget' && !holds)!.standingOrderId;
}
