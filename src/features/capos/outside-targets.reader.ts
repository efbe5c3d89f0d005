import { Injectable } from '@nestjs/common';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Connectors } from '../connectors/index.js';
import { Destinations, targetOf } from '../webhooks/index.js';
import { NO_TARGETS, type OutsideTargets, reachesOutside } from './outside-targets.js';

/** Looks up what a workspace reaches outside now. */
@Injectable()
export class OutsideTargetsReader {
  constructor(
    private readonly destinations: Destinations,
    private readonly connectors: Connectors,
  ) {}

  async read(scope: Scope): Promise<OutsideTargets> {
    const [receiving, operations] = await Promise.all([
      this.destinations.receiving(scope),
      this.connectors.operations(scope),
    ]);
    return {
      destinations: receiving.map(targetOf),
      operations,
    };
  }

  /** What actions of these types need; nothing is looked up for others. */
  async for(scope: Scope, types: readonly string[]): Promise<OutsideTargets> {
    return reachesOutside(types) ? this.read(scope) : NO_TARGETS;
  }
}
