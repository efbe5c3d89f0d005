import { Injectable } from '@nestjs/common';
import { Channel } from '../../platform/database/channel.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Readiness } from '../../platform/observability/health.controller.js';
import { CAPOS } from '../capos/index.js';
import { isHalted } from '../guardian/index.js';
import type { Electorate } from '../standing-orders/index.js';
import type { CapoRole, GuardianMode } from '../terms/index.js';
import type { ListedApproval } from './approval.entity.js';
import type { WaitingFor } from './approvals.dto.js';

/** What may keep approvals of a workspace waiting, besides the people who decide. */
export interface Holdups {
  mode: GuardianMode;
  /** With the name of who paused each. */
  paused: ReadonlyMap<CapoRole, string>;
}

export const NOTHING_PREPARED =
  'Nothing was prepared; reject it, hand it in differently, or add what is to be done.';

/** What has to happen next before it can be approved and sent; null once it is decided. */
export function waitingFor(approval: ListedApproval, { mode, paused }: Holdups): WaitingFor | null {
  const { status, ready, capo, inputsNeeded, kind } = approval;
  if (status !== 'pending') return null;
  if (isHalted(mode)) {
    return {
      reason: 'revert',
      message:
        mode === 'killed'
          ? 'The kill switch is engaged: nothing is drafted, edited or approved until an admin reverts it.'
          : 'A revert is undoing work packets: nothing is drafted, edited or approved until it has ended.',
    };
  }
  if (!ready) return draftAwaited(capo, paused);
  if (isNothingPrepared(approval)) return { reason: 'input', message: NOTHING_PREPARED };
  if (inputsNeeded > 0) {
    return { reason: 'input', message: 'Something is missing in the draft: edit it, then approve it.' };
  }
  if (kind === 'question') return { reason: 'decision', message: 'A person has to answer or reject it.' };
  if (mode === 'observe') {
    return {
      reason: 'mode',
      message: 'The guardian only observes: nothing is approved or sent until an admin changes its mode.',
    };
  }
  if (approval.missingApprovers > 0) return { reason: 'approvers', message: missingInWords(approval) };
  const message =
    approval.quorum === 1
      ? 'A person has to approve or reject it.'
      : `${morePeople(approval)} to approve it, of ${approval.quorum}; one is enough to reject it.`;
  return { reason: 'decision', message };
}

/** How many people still have to approve it. */
export function approvalsMissing({ quorum, votes }: Pick<ListedApproval, 'quorum' | 'votes'>): number {
  return quorum - Object.keys(votes).length;
}

/** Why an approval cannot come about: fewer members may give it than have to. */
export function missingInWords(
  approval: Electorate & Pick<ListedApproval, 'votes' | 'missingApprovers'>,
): string {
  const { quorum, approvers, missingApprovers } = approval;
  const orders = approvers.map(({ name }) => `"${name}"`);
  const named =
    orders.length === 1
      ? `the standing order ${orders[0]} names`
      : `each of the standing orders ${orders.join(' and ')} names`;
  const whom = orders.length === 0 ? '' : ` of those whom ${named}`;
  const able = approvalsMissing(approval) - missingApprovers;
  const remedy =
    orders.length === 0
      ? 'add members who may approve.'
      : 'give more members a role that is named there, or change the standing order and have it asked for again.';
  return [
    `${morePeople(approval)} to approve it, but ${able === 0 ? 'nobody' : `only ${able}`}${whom} can.`,
    ...(quorum > 1 ? ['Those who asked for it or edited it do not count.'] : []),
    `Reject it, or ${remedy}`,
  ].join(' ');
}

/** A message may be lost with its connection, so the waiting request also reads the row itself. */
const LOOK_EVERY_MS = 1_000;

/** What is waited for: a message about this row, for so long. */
interface Waited {
  topic: string;
  id: string;
  waitSeconds: number;
}

/** Reads a row again and again until it is as somebody waits for it. No connection is held while it waits. */
@Injectable()
export class AwaitChange {
  constructor(
    private readonly clock: Clock,
    private readonly channel: Channel,
    private readonly readiness: Readiness,
  ) {}

  /**
   * Answers the row as it is when `isThere` says so, or the time is over, or the process is about to end.
   * @throws NotFound
   */
  async until<T>(
    { topic, id, waitSeconds }: Waited,
    find: () => Promise<T | undefined>,
    isThere: (row: T) => boolean,
  ): Promise<T> {
    const until = this.clock.now() + waitSeconds * 1_000;
    for (;;) {
      // It listens before it looks, so that what happens between the two is not missed.
      const change = this.nextChange(topic, id, until);
      try {
        const row = await find();
        if (row === undefined) throw new NotFound();
        if (isThere(row) || this.clock.now() >= until || this.readiness.closing.aborted) return row;
        await change.wait;
      } finally {
        change.stop();
      }
    }
  }

  private nextChange(topic: string, id: string, until: number): { wait: Promise<void>; stop: () => void } {
    let stop = () => undefined as void;
    const wait = new Promise<void>((resolve) => {
      const off = this.channel.subscribe(topic, (message) => message.id === id && resolve());
      const drained = () => resolve();
      this.readiness.closing.addEventListener('abort', drained);
      const timer = setTimeout(resolve, Math.max(0, Math.min(LOOK_EVERY_MS, until - this.clock.now())));
      stop = () => {
        off();
        clearTimeout(timer);
        this.readiness.closing.removeEventListener('abort', drained);
      };
    });
    return { wait, stop: () => stop() };
  }
}

/** Whether its draft is there and has no work packet; a list knows it by the key that only drafts with some have. */
function isNothingPrepared({
  kind,
  ready,
  groupKey,
}: Pick<ListedApproval, 'kind' | 'ready' | 'groupKey'>): boolean {
  return kind === 'output' && ready && groupKey === null;
}

function morePeople(approval: Pick<ListedApproval, 'quorum' | 'votes'>): string {
  const left = approvalsMissing(approval);
  return left === 1 ? 'One more person has' : `${left} more people have`;
}

function draftAwaited(capo: CapoRole | null, paused: Holdups['paused']): WaitingFor {
  if (capo === null) return { reason: 'draft', message: 'The consigliere is choosing a capo for it.' };
  const { name } = CAPOS[capo];
  if (!paused.has(capo)) return { reason: 'draft', message: `${name} is making the draft.` };
  return {
    reason: 'resume',
    message: `${paused.get(capo)} paused ${name}: the draft is made once an admin resumes it.`,
  };
}
