import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { DomainError, type Fault } from '../../platform/kernel/define-error.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { WrittenOrders, type ZoneLookUps } from '../standing-orders/index.js';
import { inPart, readManifest, bodyOfOrder, type PackManifest, type PackOrder } from './pack-manifest.js';
import { InvalidPackSignature, UnknownPublisher } from './packs.errors.js';
import { PublisherKeys } from './publisher-keys.js';

/**
 * Whether a manifest may be installed, as far as it alone says: who signed it, its form, its skills by the rules of the evals,
 * its orders by those that hold for a person. A pack arrives whole or not at all.
 */
@Injectable()
export class CheckManifest {
  constructor(
    private readonly keys: PublisherKeys,
    private readonly written: WrittenOrders,
  ) {}

  /** @throws UnknownPublisher, InvalidPackSignature, or ValidationFailed with every fault */
  async execute(scope: Scope, raw: Record<string, unknown>, signature: string): Promise<PackManifest> {
    this.requireSignature(raw, signature);
    const read = readManifest(raw);
    if (!('manifest' in read)) throw new ValidationFailed({ details: read.faults });
    const faults = [...read.faults, ...(await this.orderFaults(scope, read.manifest))];
    if (faults.length > 0) throw new ValidationFailed({ details: faults });
    return read.manifest;
  }

  /** Before anything else of the manifest is looked at: what nobody has signed is not spoken about. */
  private requireSignature(raw: Record<string, unknown>, signature: string): void {
    const { publisher } = raw;
    if (typeof publisher !== 'string') {
      const message = 'manifest.publisher must be the name of a publisher';
      throw new ValidationFailed({ details: [{ path: 'manifest.publisher', rule: 'isString', message }] });
    }
    if (this.keys.isEmpty) {
      throw new UnknownPublisher({
        message: 'No skill pack can be installed here: SKILL_PACK_PUBLISHERS is not set.',
      });
    }
    if (!this.keys.knows(publisher)) throw new UnknownPublisher();
    if (!this.keys.hasSigned(publisher, raw, signature)) throw new InvalidPackSignature();
  }

  private async orderFaults(scope: Scope, { standingOrders }: PackManifest): Promise<Fault[]> {
    const found: Fault[] = [];
    const zones = this.written.lookUps(scope);
    for (const [index, order] of standingOrders.entries()) {
      const faults = await this.faultsOfOrder(scope, order, zones);
      found.push(...faults.map((fault) => inPart('standingOrders', index, fault)));
    }
    return found;
  }

  private async faultsOfOrder(scope: Scope, order: PackOrder, zones: ZoneLookUps): Promise<Fault[]> {
    try {
      await this.written.read(scope, null, bodyOfOrder(order), zones);
      return [];
    } catch (error) {
      return faultsIn(error);
    }
  }
}

/** What is wrong with an order that no person could create. @throws any other error */
export function faultsIn(error: unknown): Fault[] {
  if (error instanceof DomainError && error.definition.code === ValidationFailed.code) {
    return error.details as Fault[];
  }
  throw error;
}
