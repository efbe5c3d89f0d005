import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { ReportReaders } from '../notifications/index.js';
import { KnownZone } from '../workspaces/index.js';
import { lastDueDay } from './report-calendar.js';
import { configViewOf } from './report-config.js';
import type { ChangeReportConfigBody, ReportConfigView } from './report-config.dto.js';
import { ReportConfigs } from './report-configs.repository.js';

/** Changes what is named of how the workspace wants its reports. */
@Injectable()
export class ChangeReportConfig {
  constructor(
    private readonly configs: ReportConfigs,
    private readonly knownZone: KnownZone,
    private readonly readers: ReportReaders,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  /**
   * @throws ValidationFailed for a zone that the database does not know, for mail without a recipient, and for a recipient who is no
   * member, or whose address is that of a member who was removed
   */
  async execute(caller: Caller, body: ChangeReportConfigBody): Promise<ReportConfigView> {
    const { workspaceId } = caller;
    const { delivery = {} } = body;
    await this.knownZone.require(delivery.timezone, 'delivery.timezone');
    const before = await this.configs.lock(workspaceId);
    const now = this.clock.now();
    const change = {
      sections: { ...before.sections, ...body.sections },
      format: body.format ?? before.format,
      schedule: body.schedule ?? before.schedule,
      time: delivery.time ?? before.time,
      timezone: delivery.timezone === undefined ? before.timezone : delivery.timezone,
      email: delivery.email ?? before.email,
      emailAddress: delivery.emailAddress === undefined ? before.emailAddress : delivery.emailAddress,
      memberIds: delivery.memberIds ?? before.memberIds,
      // The schedule is looked at with the next second.
      dueAt: now,
    };
    if (change.email && change.emailAddress === null && change.memberIds.length === 0)
      throw withoutRecipient();
    const isSame = change.emailAddress === before.emailAddress;
    await this.requireReaders(workspaceId, {
      address: isSame ? null : change.emailAddress,
      memberIds: delivery.memberIds ?? [],
    });
    this.configs.update(workspaceId, change);
    const after = await this.configs.read({ workspaceId, teamIds: 'all' });
    // The days on which none was wanted are not made up for.
    if (before.schedule === 'on-demand' && after.schedule === 'daily')
      this.configs.update(workspaceId, { lastDate: lastDueDay(after, after.zone, now) });
    this.record(caller, configViewOf(before, now), configViewOf(after, now));
    return configViewOf(after, now);
  }

  /** What each may read is looked up as they are mailed (docs/decisions/0060). */
  private async requireReaders(
    workspaceId: string,
    who: { address: string | null; memberIds: readonly string[] },
  ): Promise<void> {
    if (who.address === null && who.memberIds.length === 0) return;
    const readers = await this.readers.of({ workspaceId, teamIds: 'all' }, who);
    const active = new Set(readers.filter(({ isActive }) => isActive).map(({ memberId }) => memberId));
    const unknown = who.memberIds.find((id) => !active.has(id));
    if (unknown !== undefined)
      throw notARecipient('delivery.memberIds', `${unknown} is no member of this workspace`);
    const former = readers.find(({ isActive }) => !isActive);
    if (former)
      throw notARecipient('delivery.emailAddress', `${former.name} was removed from this workspace`);
  }

  private record(caller: Caller, before: ReportConfigView, after: ReportConfigView): void {
    const names = ['sections', 'delivery', 'format', 'schedule'] as const;
    const changed = names.filter((name) => !isDeepStrictEqual(before[name], after[name]));
    if (changed.length === 0) return;
    const pick = (view: ReportConfigView) => Object.fromEntries(changed.map((name) => [name, view[name]]));
    this.receipts.append({
      actor: actorOf(caller),
      action: 'report_config.changed',
      entity: { type: 'workspace', id: caller.workspaceId },
      summary: `${caller.name} changed how reports are made: ${changed.join(', ')}.`,
      details: { old: pick(before), new: pick(after) },
    });
  }
}

function withoutRecipient() {
  const message = 'delivery.emailAddress or delivery.memberIds must be set for reports to be mailed';
  return new ValidationFailed({ details: [{ path: 'delivery.emailAddress', rule: 'isGiven', message }] });
}

function notARecipient(path: string, why: string) {
  return new ValidationFailed({ details: [{ path, rule: 'mayRead', message: `${path}: ${why}` }] });
}
