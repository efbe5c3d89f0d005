import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { KnownZone } from './known-zone.js';
import type { ChangeSettingsBody, SettingsView } from './settings.dto.js';
import type { WorkspaceBody, WorkspaceView } from './workspace.dto.js';
import { workspaceView } from './workspace.js';
import { Workspaces } from './workspaces.repository.js';

const NAMES = [
  'timezone',
  'locale',
  'currency',
  'presence',
  'quietHours',
  'notifications',
  'sender',
  'modelBudget',
  'retention',
  'secondFactor',
] as const;

/** Only an owner changes these. */
export const OWNER_SETTINGS: readonly (keyof SettingsView)[] = ['secondFactor'];

const OWNERS = 'Only an owner decides whether a second factor is required: it decides how owners sign in.';

/** What is set for a workspace as a whole. */
@Injectable()
export class WorkspaceService {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly knownZone: KnownZone,
    private readonly receipts: Receipts,
    private readonly work: Work,
  ) {}

  /**
   * Changes what is named of the workspace's settings; the receipt keeps what was there before.
   * @throws ValidationFailed for a zone that the database does not know, Forbidden for what only an owner changes
   */
  async changeSettings(caller: Caller, body: ChangeSettingsBody): Promise<SettingsView> {
    await this.knownZone.require(body.timezone, 'timezone');
    const locale = body.locale === undefined ? {} : { locale: Intl.getCanonicalLocales(body.locale)[0]! };
    const modelBudget = body.modelBudget && {
      amount: body.modelBudget.amount ?? null,
      currency: 'USD' as const,
      tokens: body.modelBudget.tokens ?? null,
    };
    const { sender } = body;
    const { before, after } = await this.workspaces.change(caller.workspaceId, {
      ...body,
      ...locale,
      ...(modelBudget && { modelBudget }),
      ...(sender && { sender: { ...sender, ...(sender.name && { name: visibleName(sender.name) }) } }),
    });
    if (OWNER_SETTINGS.some((name) => before[name] !== after[name]))
      requireRole(caller, null, 'owner', OWNERS);
    const changed = NAMES.filter((name) => !isDeepStrictEqual(before[name], after[name]));
    if (changed.length > 0) {
      const pick = (settings: SettingsView) =>
        Object.fromEntries(changed.map((name) => [name, settings[name]]));
      this.receipts.append({
        actor: actorOf(caller),
        action: 'settings.changed',
        entity: { type: 'workspace', id: caller.workspaceId },
        summary: `${caller.name} changed the settings: ${changed.join(', ')}.`,
        details: { old: pick(before), new: pick(after) },
      });
    }
    // The budget or the day has changed: work that waits for tomorrow's budget checks again.
    if (changed.includes('modelBudget') || changed.includes('timezone')) {
      await this.work.hasten('MODEL_BUDGET_EXCEEDED');
    }
    return after;
  }

  /**
   * Gives a workspace another name. Two workspaces may have the same: a rename must not reveal others.
   * The name it has already changes nothing.
   */
  async rename(caller: Caller, body: WorkspaceBody): Promise<WorkspaceView> {
    const before = await this.workspaces.lock(caller.workspaceId);
    const name = visibleName(body.name);
    if (name === before.name) return workspaceView(before);
    this.workspaces.rename(caller.workspaceId, name);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'workspace.renamed',
      entity: { type: 'workspace', id: caller.workspaceId },
      summary: `${caller.name} renamed the workspace ${before.name} to ${name}.`,
      details: { old: before.name, new: name },
    });
    return workspaceView({ ...before, name });
  }
}
