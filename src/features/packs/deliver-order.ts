import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { cutText } from '../../platform/kernel/text.js';
import {
  ArchiveOrders,
  DraftStandingOrder,
  type NewDraft,
  ReplaceDraft,
  type StandingOrderEntity,
  StandingOrders,
  WrittenOrders,
} from '../standing-orders/index.js';
import { faultsIn } from './check-manifest.js';
import { bodyOfOrder, contentHash, type PackOrder } from './pack-manifest.js';
import { packActor } from './pack-work.js';
import type { SkillPackEntity, SkillPackOrderEntity } from './skill-pack.entity.js';
import { SkillPacks } from './skill-packs.repository.js';

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
