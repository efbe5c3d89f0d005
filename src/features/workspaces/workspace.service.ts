import { Injectable } from '@nestjs/common';
import { isDeepStrictEqual } from 'node:util';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import type {
  ChangeSettingsBody,
  InstalledPackView,
  SettingsView,
  WorkspaceBody,
  WorkspaceView,
} from './workspace.dto.js';
import { Workspaces, workspaceView } from './workspaces.repository.js';

/** How much the workspace lets pass by itself. The guardian knows, and stands above this feature, so it registers. */
@Injectable()
export class AutonomyMode {
  #read: ((scope: Scope) => Promise<string>) | undefined;

  register(read: (scope: Scope) => Promise<string>): void {
    this.#read = read;
  }

  read(scope: Scope): Promise<string> {
    if (!this.#read) throw new Error('no guardian has registered');
    return this.#read(scope);
  }
}

/** Which skill packs the workspace has. They belong to a higher feature, which registers. */
@Injectable()
export class InstalledPacks {
  #read: ((scope: Scope) => Promise<InstalledPackView[]>) | undefined;

  register(read: (scope: Scope) => Promise<InstalledPackView[]>): void {
    this.#read = read;
  }

  async read(scope: Scope): Promise<InstalledPackView[]> {
    if (!this.#read) throw new Error('no skill packs have registered');
    const packs = await this.#read(scope);
    return packs.map(({ packId, name, publisher, version, status }) => ({
      packId,
      name,
      publisher,
      version,
      status,
    }));
  }
}

/** Zones that may be stored: those that the database knows as well, since days and windows begin there too. */
@Injectable()
export class KnownZone {
  constructor(private readonly workspaces: Workspaces) {}

  /** @throws ValidationFailed at `path` for a zone that only the program knows; nothing to check is fine */
  async require(zone: string | null | undefined, path: string): Promise<void> {
    if (zone === null || zone === undefined || (await this.workspaces.knowsZone(zone))) return;
    const message = `${path} must be a time zone that the database supports, such as Europe/Berlin; it does not support ${zone}`;
    throw new ValidationFailed({ details: [{ path, rule: 'isKnownZone', message }] });
  }
}

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
