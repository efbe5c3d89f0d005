import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { NotFound, ValidationFailed } from '../../platform/kernel/errors.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { isId, newId } from '../../platform/kernel/ids.js';
import { clockTimeOn, dayAfter, dayOf, startOf } from '../../platform/kernel/local-day.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { NotificationChoiceService } from '../notifications/index.js';
import { KnownZone } from '../workspaces/index.js';
import type { CustomSectionEntity } from './report.entity.js';
import type {
  ChangeReportConfigBody,
  ChangeReportDelivery,
  CustomSectionBody,
  ReportConfigView,
} from './report-config.dto.js';
import { lastDueDay, nextRun, switchesOf } from './report.js';
import { type Configured, ReportConfigs } from './report-configs.repository.js';
import { TooManySections } from './reports.errors.js';

/** Sections of its own that a workspace can have. */
const MOST = 10;
const MOST_RECIPIENTS = 20;

/** How a workspace wants its reports, and the sections that it adds to them. */
@Injectable()
export class ReportConfigService {
  constructor(
    private readonly configs: ReportConfigs,
    private readonly knownZone: KnownZone,
    private readonly choices: NotificationChoiceService,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  async read(scope: Scope): Promise<ReportConfigView> {
    return configViewOf(await this.configs.read(scope), this.clock.now());
  }

  /**
   * Changes what is named of how the workspace wants its reports.
   * @throws ValidationFailed for a zone that the database does not know, for mail without a recipient or with too many, and for a recipient
   * who is neither a member nor invited, or whose address is that of a member who was removed
   */
  async change(caller: Caller, body: ChangeReportConfigBody): Promise<ReportConfigView> {
    const { workspaceId } = caller;
    const { delivery = {} } = body;
    await this.knownZone.require(delivery.timezone, 'delivery.timezone');
    const before = await this.configs.lock(workspaceId);
    const now = this.clock.now();
    const named = await this.named(before, delivery);
    const change = {
      sections: { ...before.sections, ...body.sections },
      format: body.format ?? before.format,
      schedule: body.schedule ?? before.schedule,
      time: delivery.time ?? before.time,
      timezone: delivery.timezone === undefined ? before.timezone : delivery.timezone,
      email: delivery.email ?? before.email,
      ...named,
      // The schedule is looked at with the next second.
      dueAt: now,
    };
    const { length } = [...change.memberIds, ...change.inviteIds];
    if (change.email && change.emailAddress === null && length === 0) throw withoutRecipient();
    if (length > MOST_RECIPIENTS) throw notARecipient('delivery', `at most ${MOST_RECIPIENTS} recipients`);
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

  /**
   * Adds a section of the workspace's own, which its capo writes anew for each report from now on.
   * @throws TooManySections
   */
  async addSection(caller: Caller, body: CustomSectionBody): Promise<CustomSectionEntity> {
    const { workspaceId } = caller;
    // Of two that add the last one at the same time the second waits, and then counts both.
    await this.configs.lock(workspaceId);
    const existing = await this.configs.sections({ workspaceId, teamIds: 'all' });
    if (existing.length >= MOST) throw new TooManySections({ details: { limit: MOST } });
    const section: CustomSectionEntity = {
      workspaceId,
      sectionId: newId('sec'),
      title: body.title,
      directive: body.directive,
      capo: body.capo,
      includeInReport: body.includeInReport ?? true,
      createdBy: actorOf(caller),
      createdAt: this.clock.now(),
    };
    this.configs.addSection(section);
    const { sectionId, title, capo, includeInReport } = section;
    this.receipts.append({
      actor: actorOf(caller),
      action: 'report_section.created',
      entity: { type: 'report_section', id: sectionId },
      capo,
      summary: `${caller.name} added the section "${title}" to the Daily Report.`,
      details: { title, includeInReport },
    });
    return section;
  }

  /**
   * Takes a section out of the reports to come; those that were made keep it.
   * @throws NotFound
   */
  async deleteSection(caller: Caller, sectionId: string): Promise<CustomSectionEntity> {
    const section = isId('sec', sectionId)
      ? await this.configs.deleteSection(caller.workspaceId, sectionId)
      : undefined;
    if (!section) throw new NotFound();
    this.receipts.append({
      actor: actorOf(caller),
      action: 'report_section.deleted',
      entity: { type: 'report_section', id: sectionId },
      capo: section.capo,
      summary: `${caller.name} took the section "${section.title}" out of the Daily Report.`,
      details: { title: section.title },
    });
    return section;
  }

  /** An address that somebody is invited by stands for that person: leaving an invite open must not widen what they are mailed. */
  private async named(
    before: Configured,
    { emailAddress, memberIds = before.memberIds, inviteIds }: ChangeReportDelivery,
  ): Promise<Pick<Configured, 'emailAddress' | 'memberIds' | 'inviteIds'>> {
    const address = emailAddress ? foldedMailAddress(emailAddress) : null;
    const known = await this.configs.invites(before.workspaceId, { inviteIds: inviteIds ?? [], address });
    const unknown = inviteIds?.find((id) => !known.some(({ inviteId }) => inviteId === id));
    if (unknown !== undefined)
      throw notARecipient('delivery.inviteIds', `${unknown} is no invite that can be accepted`);
    const ofAddress = known.find(({ isOfAddress }) => isOfAddress)?.inviteId;
    const chosen = inviteIds ?? before.inviteIds;
    if (ofAddress !== undefined)
      return { emailAddress: null, memberIds, inviteIds: [...new Set([...chosen, ofAddress])] };
    return {
      emailAddress: emailAddress === undefined ? before.emailAddress : address,
      memberIds,
      inviteIds: [...chosen],
    };
  }

  /** What each may read is looked up as they are mailed (docs/decisions/0060). */
  private async requireReaders(
    workspaceId: string,
    who: { address: string | null; memberIds: readonly string[] },
  ): Promise<void> {
    if (who.address === null && who.memberIds.length === 0) return;
    const readers = await this.choices.reportReaders({ workspaceId, teamIds: 'all' }, who);
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
    const pick = (view: ReportConfigView) => {
      const { emailAddress, ...delivery } = view.delivery;
      // Every member reads receipts, and only admins read the address.
      const shown = { ...view, delivery: { ...delivery, hasEmailAddress: emailAddress !== null } };
      return Object.fromEntries(changed.map((name) => [name, shown[name]]));
    };
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
  const message =
    'delivery.emailAddress, delivery.memberIds or delivery.inviteIds must be set for reports to be mailed';
  return new ValidationFailed({ details: [{ path: 'delivery.emailAddress', rule: 'isGiven', message }] });
}

function notARecipient(path: string, why: string) {
  return new ValidationFailed({ details: [{ path, rule: 'mayRead', message: `${path}: ${why}` }] });
}

function configViewOf(config: Configured, now: number): ReportConfigView {
  const { zone } = config;
  const { sections, format, schedule, time, timezone, email, emailAddress, memberIds, inviteIds, lastDate } =
    config;
  // The day on which the workspace was made is the first to be reported, and over before its report is made.
  const firstDayEnds = startOf(dayAfter(dayOf(config.createdAt, zone), zone), zone);
  // The day that was reported last has no second report, whatever the time or the zone is by now.
  const made = lastDate === null ? now : clockTimeOn(dayAfter(lastDate, zone), time, zone);
  const next = nextRun(config, zone, Math.max(now, firstDayEnds - 1, made));
  return {
    sections: switchesOf(sections),
    delivery: { time, timezone, email, emailAddress, memberIds, inviteIds },
    format,
    schedule,
    timezone: zone,
    nextReportAt: next === null ? null : new Date(next).toISOString(),
  };
}
