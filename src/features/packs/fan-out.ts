import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { withComputed } from '../../platform/database/beforehand.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import { cutText } from '../../platform/kernel/text.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { scopeOfWork, type WorkError, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import {
  ArchiveOrders,
  DraftStandingOrder,
  type NewDraft,
  ReplaceDraft,
  type StandingOrderEntity,
  StandingOrders,
  WrittenOrders,
} from '../standing-orders/index.js';
import { isCapoRole } from '../capos/index.js';
import { RecordEval, skillSubject } from '../evals/index.js';
import { Events } from '../events/index.js';
import { Signals } from '../records/index.js';
import type { SkillPackEntity, SkillPackOrderEntity, SkillPackSkillEntity } from './skill-pack.entity.js';
import { faultsIn } from './check-manifest.js';
import { bodyOfOrder, contentHash, type PackOrder, type PackSkill } from './pack-manifest.js';
import { SkillPacks } from './skill-packs.repository.js';

/** The work of letting the parts of a pack arrive; its id is that of the pack. */
export const INSTALL_WORK = 'pack.install';
/** The work of taking back a pack that its publisher revokes. */
export const REVOKE_WORK = 'pack.revoke';

/** A pack as it stands in records and receipts of what it brought. */
function packActor({ packId, name }: Pick<SkillPackEntity, 'packId' | 'name'>): Actor {
  return { type: 'system', id: packId, name: `The skill pack ${name}`, via: 'policy' };
}

const MAX_REASON = 500;

/**
 * Lets one order of a pack arrive as a draft, or leave with a later version. What a person has changed, activated, paused or
 * archived is theirs: it stays as it is, and what the later version says arrives as a draft beside it.
 */
@Injectable()
export class DeliverOrder {
  constructor(
    private readonly db: Db,
    private readonly packs: SkillPacks,
    private readonly orders: StandingOrders,
    private readonly written: WrittenOrders,
    private readonly draftOrder: DraftStandingOrder,
    private readonly replaceDraft: ReplaceDraft,
    private readonly archiveOrders: ArchiveOrders,
  ) {}

  /**
   * The pack is locked, and no part of it was written by this transaction.
   * @throws NeededBeforehand, before anything is written
   */
  async execute(pack: SkillPackEntity, row: SkillPackOrderEntity): Promise<void> {
    const order = row.standingOrderId === null ? undefined : await this.orders.lock(row.standingOrderId);
    const shipped = pack.manifest.standingOrders.find(({ key }) => key === row.orderKey);
    if (shipped) await this.arrive(pack, row, order, shipped);
    else await this.leave(pack, row, order);
  }

  private async arrive(
    pack: SkillPackEntity,
    row: SkillPackOrderEntity,
    order: StandingOrderEntity | undefined,
    shipped: PackOrder,
  ): Promise<void> {
    const { version } = pack;
    const shippedHash = contentHash(shipped);
    if (order && row.shippedHash === shippedHash) {
      this.packs.saveOrder(row, { status: 'arrived', version });
      return;
    }
    if (order?.status === 'archived') {
      const reason = 'A person had archived it, so what the new version says was left out.';
      this.packs.saveOrder(row, { status: 'kept', version, reason });
      return;
    }
    const draft = await this.draftOf(pack, row, order, shipped);
    if (typeof draft === 'string') {
      this.packs.saveOrder(row, { status: 'refused', version, reason: draft });
      return;
    }
    const by = packActor(pack);
    const isTheirs = order !== undefined && !isUntouched(order, row);
    const arrived =
      order && !isTheirs
        ? await this.replaceDraft.execute(order, draft, by)
        : await this.draftOrder.examined(draft, by);
    this.packs.saveOrder(row, {
      status: 'arrived',
      standingOrderId: arrived.standingOrderId,
      formerIds: isTheirs ? [...row.formerIds, order.standingOrderId] : row.formerIds,
      shippedHash,
      writtenVersion: arrived.version,
      version,
    });
  }

  /** What is written, or why it could not be any more: a time that has passed, a zone that is gone. */
  private async draftOf(
    { packId, name, version, publisher }: SkillPackEntity,
    row: SkillPackOrderEntity,
    order: StandingOrderEntity | undefined,
    shipped: PackOrder,
  ): Promise<NewDraft | string> {
    const beside =
      order && !isUntouched(order, row)
        ? ` It says what the order "${order.name}" is to say from this version on; that one stays as it is.`
        : '';
    try {
      return {
        ...(await this.written.read(this.db.unit.scope, null, bodyOfOrder(shipped))),
        heldBecause: `It came with the skill pack ${name} ${version} of ${publisher}; it decides nothing until a person activates it.${beside}`,
        details: { packId, packVersion: version, key: row.orderKey },
      };
    } catch (error) {
      const [fault] = faultsIn(error);
      return cutText(`It can be created no longer: ${fault!.message}.`, MAX_REASON);
    }
  }

  private async leave(
    pack: SkillPackEntity,
    row: SkillPackOrderEntity,
    order: StandingOrderEntity | undefined,
  ): Promise<void> {
    const { packId, version } = pack;
    if (!order || !isUntouched(order, row)) {
      this.packs.saveOrder(row, { status: 'dropped', version });
      return;
    }
    await this.archiveOrders.execute([order.standingOrderId], packActor(pack), {
      details: { packId, packVersion: version },
    });
    // A later version that has it again begins with a new draft.
    this.packs.saveOrder(row, {
      status: 'dropped',
      version,
      standingOrderId: null,
      formerIds: [...row.formerIds, order.standingOrderId],
      shippedHash: null,
      writtenVersion: null,
    });
  }
}

/** A draft as the pack wrote it. */
function isUntouched(
  { status, version }: StandingOrderEntity,
  { writtenVersion }: SkillPackOrderEntity,
): boolean {
  return status === 'draft' && version === writtenVersion;
}

/** As the name of a run that somebody asks for. */
const MAX_NAME = 120;

/**
 * Lets the skills and orders of an accepted pack arrive, each in a transaction of its own: whatever ends this in the middle,
 * the next attempt goes on with the first part that has not arrived. With the last one the pack is installed.
 */
@Injectable()
export class FanOut implements OnModuleInit {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly packs: SkillPacks,
    private readonly recordEval: RecordEval,
    private readonly deliverOrder: DeliverOrder,
    private readonly events: Events,
    private readonly signals: Signals,
    private readonly receipts: Receipts,
    private readonly clock: Clock,
  ) {}

  onModuleInit(): void {
    this.work.declare({
      name: INSTALL_WORK,
      pool: 4,
      perQueue: 1,
      perQueueEverywhere: 1,
      tries: 5,
      run: (item, signal) => this.execute(item, signal),
      giveUp: (item, error) => this.failed(item.id, error),
    });
  }

  private async execute(item: WorkItem, signal: AbortSignal): Promise<void> {
    const scope = scopeOfWork(item);
    for (let goesOn = true; goesOn;) {
      goesOn = await withComputed(() => this.db.transaction(scope, () => this.step(item, signal.aborted)));
    }
  }

  /** Answers whether there is more to do. */
  private async step(item: WorkItem, isAborted: boolean): Promise<boolean> {
    const pack = await this.packs.lock(item.id);
    if (pack?.status !== 'installing') {
      this.work.complete(item);
      return false;
    }
    this.work.check(item);
    if (isAborted) {
      this.work.reschedule(item, 0);
      return false;
    }
    const { skill, order } = await this.packs.nextParts(pack);
    if (skill) this.addSkill(pack, skill);
    else if (order) await this.deliverOrder.execute(pack, order);
    else this.complete(item, pack);
    return skill !== undefined || order !== undefined;
  }

  private complete(item: WorkItem, pack: SkillPackEntity): void {
    this.installed(pack);
    this.work.complete(item);
  }

  /**
   * Gives a skill of a pack to its capo, with the eval run that it arrived with.
   * In the open transaction; the pack is locked.
   */
  private addSkill(pack: SkillPackEntity, row: SkillPackSkillEntity): void {
    const { packId, version, manifest } = pack;
    const { name } = row;
    const definition = manifest.skills.find((skill) => skill['name'] === name)!;
    if (row.definition && contentHash(row.definition) === contentHash(definition)) {
      this.packs.saveSkill(row, { status: 'arrived', version });
      return;
    }
    const capo = isCapoRole(definition['capo']) ? definition['capo'] : null;
    const by = packActor(pack);
    const { evalRunId, score, passed } = this.recordEval.execute(
      skillSubject(name, definition, { teamId: null, capo }),
      { name: cutText(`Installation of ${pack.name}`, MAX_NAME), occasion: 'install', by },
    );
    // The pack was accepted by the rules of then; a later release may have more of them.
    const isRefused = !passed || capo === null;
    this.packs.saveSkill(row, {
      status: isRefused ? 'refused' : 'arrived',
      definition: isRefused ? null : (definition as unknown as PackSkill),
      capo: capo ?? row.capo,
      version,
      reason: isRefused ? 'It did not pass its eval.' : null,
      evalRunId,
      score,
    });
    this.receipts.append({
      actor: by,
      action: isRefused ? 'skill_pack.skill_refused' : 'skill_pack.skill_added',
      entity: { type: 'skill_pack', id: packId },
      capo,
      outcome: isRefused ? 'denied' : 'success',
      summary: isRefused
        ? `The skill ${name} of ${pack.name} was refused: it did not pass its eval.`
        : `The skill ${name} of ${pack.name} ${version} is given to its capo from now on.`,
      details: { skill: name, version, definition, evalRunId, score },
    });
  }

  /** The pack is locked, and all of it has arrived. */
  private installed(pack: SkillPackEntity): void {
    const { packId, name, version, publisher, manifestHash } = pack;
    this.packs.update(pack, { status: 'installed', completedAt: this.clock.now() });
    this.receipts.append({
      actor: packActor(pack),
      action: 'skill_pack.installed',
      entity: { type: 'skill_pack', id: packId },
      summary: `The skill pack ${name} ${version} of ${publisher} is installed.`,
      details: { name, version, publisher, manifestHash },
    });
    this.events.record('pack.installed', { packId, version });
  }

  private async failed(id: string, { message }: WorkError): Promise<void> {
    const pack = await this.packs.lock(id);
    if (pack?.status !== 'installing') return;
    const { packId, name, version } = pack;
    const by = packActor(pack);
    this.packs.update(pack, { status: 'failed', reason: message });
    const title = `The skill pack ${name} ${version} could not be installed completely.`;
    this.receipts.append({
      actor: by,
      action: 'skill_pack.failed',
      entity: { type: 'skill_pack', id: packId },
      outcome: 'failure',
      summary: title,
      details: { name, version, reason: message },
    });
    this.signals.raise({
      type: 'policy',
      severity: 'warning',
      title,
      body: `${message} What has arrived stays. Install the same version again to go on, or uninstall the pack.`,
      source: by,
      teamId: null,
      entity: { type: 'skill_pack', id: packId },
    });
  }
}
