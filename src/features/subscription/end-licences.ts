import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { PinoLogger } from 'nestjs-pino';
import { SYSTEM, type Tier } from '../../platform/auth/caller.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { Signals } from '../records/index.js';
import { Workspaces } from '../workspaces/index.js';
import { graceEnd, licenceStatus, timeOf } from './licence.js';
import type { LicenceEntity } from './licence.entity.js';
import { Licences } from './licences.repository.js';

const LOOK_EVERY_MS = 5_000;
const WORKSPACES_AT_ONCE = 100;

/**
 * Tells a workspace when its licence has ended, and gives it back its own tier when the grace has, too. The row of the
 * workspace is locked, so each happens once, however many processes look.
 */
@Injectable()
export class EndLicences {
  #running = false;

  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly licences: Licences,
    private readonly workspaces: Workspaces,
    private readonly signals: Signals,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
    private readonly logger: PinoLogger,
  ) {}

  @Interval(LOOK_EVERY_MS)
  async inBackground(): Promise<void> {
    if (this.config.processRole === 'api' || this.#running) return;
    this.#running = true;
    await this.execute().catch((error: unknown) => this.warn(error));
    this.#running = false;
  }

  /** One workspace that cannot be told must not keep the others from it. */
  async execute(): Promise<void> {
    for (const workspaceId of await this.licences.untold(this.clock.now(), WORKSPACES_AT_ONCE)) {
      await this.tell(workspaceId).catch((error: unknown) => this.warn(error, workspaceId));
    }
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
      score: null,
      source: SYSTEM,
      teamId: null,
      capo: null,
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

function graceTitle(licence: LicenceEntity): string {
  return `The licence has ended; the tier stays ${licence.tier} until ${timeOf(graceEnd(licence))}.`;
}

const GRACE_BODY =
  'Everything goes on as before until then. Install a new licence with POST /subscription/verify; after that time the workspace has the tier that it has without a licence.';
const ENDED_BODY =
  'Nothing was deleted or stopped; the limits on requests and on model calls are those of the tier. Acts that stop work are never limited. Install a new licence with POST /subscription/verify.';
