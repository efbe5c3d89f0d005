import { Injectable } from '@nestjs/common';
import { Channel } from '../../platform/database/channel.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { Readiness } from '../../platform/observability/health.controller.js';
import type { ApprovalEntity } from './approval.entity.js';
import { Approvals } from './approvals.repository.js';

/** A message may be lost with its connection, so the waiting request also polls. */
const LOOK_EVERY_MS = 1_000;

/** Reads an approval, waiting for its draft or its decision if asked to. No connection is held while it waits. */
@Injectable()
export class AwaitApproval {
  constructor(
    private readonly approvals: Approvals,
    private readonly clock: Clock,
    private readonly channel: Channel,
    private readonly readiness: Readiness,
  ) {}

  /** @throws NotFound */
  async execute(scope: Scope, approvalId: string, waitSeconds: number): Promise<ApprovalEntity> {
    const until = this.clock.now() + waitSeconds * 1000;
    for (;;) {
      const changed = this.nextChange(approvalId, until);
      try {
        const approval = await this.approvals.find(scope, approvalId);
        if (!approval) throw new NotFound();
        const waiting = approval.status === 'pending' && !approval.ready;
        if (!waiting || this.clock.now() >= until || this.readiness.closing.aborted) return approval;
        await changed.wait;
      } finally {
        changed.stop();
      }
    }
  }

  /** Listens before the look, so that what happens between the two is not missed. */
  private nextChange(approvalId: string, until: number): { wait: Promise<void>; stop: () => void } {
    let stop = () => undefined as void;
    const wait = new Promise<void>((resolve) => {
      const off = this.channel.subscribe('approval', ({ id }) => id === approvalId && resolve());
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
