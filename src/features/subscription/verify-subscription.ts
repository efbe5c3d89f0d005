import { Injectable } from '@nestjs/common';
import { actorOf, type Caller, scopeOf, type Tier } from '../../platform/auth/caller.js';
import { requireRole } from '../../platform/auth/require-role.js';
import { Config } from '../../platform/config/config.js';
import { Clock } from '../../platform/kernel/clock.js';
import { tierLimitsOf } from '../../platform/rate-limit/limits.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Work } from '../../platform/work/work.js';
import { Workspaces } from '../workspaces/index.js';
import { type IssuerKeys, issuerKeys, readLicence } from './licence-key.js';
import type { LicenceEntity } from './licence.entity.js';
import {
  faultIn,
  graceEnd,
  type Licence,
  LICENCE_FAULTS,
  type LicenceFault,
  licenceStatus,
  timeOf,
  validitySentence,
} from './licence.js';
import { Licences } from './licences.repository.js';
import type { SubscriptionView } from './subscription.dto.js';

/** Checks the installed licence, or installs a valid one: its tier holds in every process as soon as callers are looked up again. */
@Injectable()
export class VerifySubscription {
  readonly #issuers: IssuerKeys;

  constructor(
    config: Config,
    private readonly licences: Licences,
    private readonly workspaces: Workspaces,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly work: Work,
  ) {
    this.#issuers = issuerKeys(config.licencePublicKeys);
  }

  /** @throws Forbidden for a key from anyone but owner and admin */
  execute(caller: Caller, licenceKey: string | undefined): Promise<SubscriptionView> {
    return licenceKey === undefined ? this.check(caller) : this.install(caller, licenceKey);
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
}

type Installed = Pick<LicenceEntity, 'entitlements' | 'expiresAt'>;

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
