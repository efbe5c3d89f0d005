import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { actorOf, type Caller, scopeOf, SYSTEM, type Tier } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { tierLimitsOf } from '../../platform/rate-limit/limits.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { Signals } from '../records/index.js';
import { Workspaces } from '../workspaces/index.js';
import {
  type IssuerKeys,
  issuerKeys,
  readLicence,
  faultIn,
  graceEnd,
  type Licence,
  LICENCE_FAULTS,
  type LicenceFault,
  licenceStatus,
  timeOf,
  validitySentence,
} from './licence.js';
import type { LicenceEntity } from './licence.entity.js';
import { Licences } from './licences.repository.js';
import type { SubscriptionView } from './subscription.dto.js';

const LOOK_EVERY_MS = 5_000;
const WORKSPACES_AT_ONCE = 100;

type Installed = Pick<LicenceEntity, 'entitlements' | 'expiresAt'>;

/** The licence of a workspace: checked and installed when asked, ended when its time has come. */
@Injectable()
export class SubscriptionService {
  readonly #issuers: IssuerKeys;
  #running = false;

  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly licences: Licences,
    private readonly workspaces: Workspaces,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly work: Work,
    private readonly logger: PinoLogger,
  ) {
    this.#issuers = issuerKeys(config.licencePublicKeys);
  }

  /**
   * Checks the installed licence, or installs a valid one: its tier holds in every process as soon as callers are looked up again.
   * @throws Forbidden for a key from anyone but owner and admin
   */
  verify(caller: Caller, licenceKey: string | undefined): Promise<SubscriptionView> {
    return licenceKey === undefined ? this.check(caller) : this.install(caller, licenceKey);
  }

  @Interval(LOOK_EVERY_MS)
  async inBackground(): Promise<void> {
    if (this.config.processRole === 'api' || this.#running) return;
    this.#running = true;
    await this.endLicences().catch((error: unknown) => this.warn(error));
    this.#running = false;
  }

  /**
   * Tells a workspace when its licence has ended, and gives it back its own tier when the grace has, too. The row of the
   * workspace is locked, so each happens once, however many processes look. One workspace that cannot be told must not keep the
   * others from it.
   */
  async endLicences(): Promise<void> {
    for (const workspaceId of await this.licences.untold(this.clock.now(), WORKSPACES_AT_ONCE)) {
      await this.tell(workspaceId).catch((error: unknown) => this.warn(error, workspaceId));
    }
  }

  private async check(caller: Caller): Promise<SubscriptionView> {
    const scope = scopeOf(caller);
    const now = this.clock.now();
    const { tier } = await this.workspaces.settings(scope);
    const installed = await this.licences.find(scope);
    const { fault } = installed
      ? this.examine(installed.licenceKey, scope.workspaceId, now)
      : { fault: this.#issuers.size === 0 ? ('no_public_key' as const) : ('no_licence' as const) };
    return subscriptionView(tier, installed, now, fault);
  }

  private async install(caller: Caller, licenceKey: string): Promise<SubscriptionView> {
    requireRole(caller, null, 'admin', 'Only an owner or an admin may install a licence.');
    const { workspaceId } = caller;
    const now = this.clock.now();
    const text = licenceKey.trim();
    const tier = await this.workspaces.lockTier(workspaceId);
    const installed = await this.licences.find(scopeOf(caller));
    const { licence, fault } = this.examine(text, workspaceId, now);
    if (!licence) return subscriptionView(tier, installed, now, fault);
    if (installed?.licenceKey === text) return subscriptionView(tier, installed, now, undefined);
    if (installed && licence.number <= installed.number) {
      return subscriptionView(tier, installed, now, 'superseded');
    }
    const row = this.put(caller, { licence, licenceKey: text, tier, installed, now });
    // The tier has another budget: work that waits for tomorrow's checks again.
    if (licence.tier !== tier) await this.work.hasten('MODEL_BUDGET_EXCEEDED');
    return subscriptionView(licence.tier, row, now, undefined);
  }

  private examine(
    text: string,
    workspaceId: string,
    now: number,
  ): { licence: Licence; fault?: never } | { licence?: never; fault: LicenceFault } {
    if (this.#issuers.size === 0) return { fault: 'no_public_key' };
    const read = readLicence(text, this.#issuers);
    if ('fault' in read) return read;
    const fault = faultIn(read.licence, workspaceId, now);
    return fault ? { fault } : read;
  }

  private put(
    caller: Caller,
    given: {
      licence: Licence;
      licenceKey: string;
      tier: Tier;
      installed: LicenceEntity | undefined;
      now: number;
    },
  ): LicenceEntity {
    const { licence, licenceKey, tier, installed, now } = given;
    const { workspaceId } = caller;
    const actor = actorOf(caller);
    const holds = installed !== undefined && installed.toldStatus !== 'expired';
    const row: LicenceEntity = {
      ...licence,
      entitlements: [...licence.entitlements],
      licenceKey,
      installedAt: now,
      installedBy: actor,
      tierBefore: holds ? installed.tierBefore : tier,
      toldStatus: 'active',
    };
    if (installed) this.licences.replace(row);
    else this.licences.add(row);
    this.workspaces.changeTier(workspaceId, licence.tier);
    this.receipts.append({
      actor,
      action: 'subscription.changed',
      entity: { type: 'licence', id: licence.licenceId },
      summary: `${caller.name} installed a licence: the tier is ${licence.tier} until ${timeOf(licence.expiresAt)}, and was ${tier}.`,
      details: {
        old: { tier, licenceId: installed?.licenceId ?? null },
        new: {
          tier: licence.tier,
          licenceId: licence.licenceId,
          number: licence.number,
          entitlements: licence.entitlements,
          expiresAt: licence.expiresAt,
        },
      },
    });
    return row;
  }

  private async tell(workspaceId: string): Promise<void> {
    const scope = { workspaceId, teamIds: 'all' as const };
    await this.db.transaction(scope, async () => {
      const tier = await this.workspaces.lockTier(workspaceId);
      const licence = await this.licences.find(scope);
      if (!licence) return;
      const status = licenceStatus(licence, this.clock.now());
      if (status === 'active' || status === licence.toldStatus) return;
      this.licences.noteTold(workspaceId, status);
      if (status === 'grace') this.raise(licence, 'warning', graceTitle(licence), GRACE_BODY);
      else this.end(licence, tier);
    });
  }

  private end(licence: LicenceEntity, tier: Tier): void {
    const { workspaceId, licenceId, tierBefore } = licence;
    // Another tier was set since, by the operator of the service, and stays.
    const next = tier === licence.tier ? tierBefore : tier;
    if (next !== tier) this.workspaces.changeTier(workspaceId, next);
    this.receipts.append({
      actor: SYSTEM,
      action: 'subscription.changed',
      entity: { type: 'licence', id: licenceId },
      summary: `The licence and its grace have ended: the tier is ${next}, and was ${tier}.`,
      details: {
        old: { tier, licenceId },
        new: { tier: next, licenceId: null },
        expiresAt: licence.expiresAt,
      },
    });
    this.raise(licence, 'critical', `The licence has run out; the tier is now ${next}.`, ENDED_BODY);
  }

  private raise(
    { licenceId }: LicenceEntity,
    severity: 'warning' | 'critical',
    title: string,
    body: string,
  ): void {
    this.signals.raise({
      type: 'policy',
      severity,
      title,
      body,
      teamId: null,
      entity: { type: 'licence', id: licenceId },
    });
  }

  private warn(err: unknown, workspaceId?: string): void {
    this.logger.warn(
      { err, workspaceId },
      'the end of a licence could not be recorded; the next try follows in 5 s',
    );
  }
}

/**
 * How a workspace stands by what it has installed, whatever was checked; so a key that does not belong here says nothing
 * of what stands in it.
 */
function subscriptionView(
  tier: Tier,
  installed: Installed | undefined,
  now: number,
  fault: LicenceFault | undefined,
): SubscriptionView {
  const status = installed ? licenceStatus(installed, now) : 'none';
  const holds = status === 'active' || status === 'grace';
  return {
    valid: fault === undefined,
    tier,
    status,
    entitlements: installed && holds ? [...installed.entitlements] : [],
    expiresAt: installed?.expiresAt ?? null,
    graceUntil: installed ? graceEnd(installed) : null,
    limits: tierLimitsOf(tier),
    reason: fault ?? null,
    message: fault ? LICENCE_FAULTS[fault] : validitySentence(installed!, now),
  };
}

function graceTitle(licence: LicenceEntity): string {
  return `The licence has ended; the tier stays ${licence.tier} until ${timeOf(graceEnd(licence))}.`;
}

const GRACE_BODY =
  'Everything goes on as before until then. Install a new licence with POST /subscription/verify; after that time the workspace has the tier that it has without a licence.';
const ENDED_BODY =
  'Nothing was deleted or stopped; the limits on requests and on model calls are those of the tier. Acts that stop work are never limited. Install a new licence with POST /subscription/verify.';
