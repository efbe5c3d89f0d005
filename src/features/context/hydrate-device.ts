import { Injectable } from '@nestjs/common';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { Clock } from '../../platform/kernel/clock.js';
import { ReceiptChains } from '../audit/index.js';
import { BootstrapReader } from './bootstrap.reader.js';
import { ContextReader } from './context.reader.js';
import { Devices } from '../workspaces/index.js';
import { Cursors, sightOf } from './cursors.js';
import type { HydrateBody, Hydration } from './hydrate.dto.js';
import { MissedReceipts } from './missed-receipts.js';

/** CONTRACT section 1: no page is above 2 MB. */
const MAX_BYTES = 2_000_000;
/** The names of the parts, and the cursor. */
const ENVELOPE_BYTES = 1_000;

/** Gives a client that works offline all that it keeps: where it was before, what it missed. */
@Injectable()
export class HydrateDevice {
  constructor(
    private readonly bootstrap: BootstrapReader,
    private readonly context: ContextReader,
    private readonly chains: ReceiptChains,
    private readonly missed: MissedReceipts,
    private readonly devices: Devices,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
  ) {}

  /** @throws ValidationFailed for a cursor that this device was not given */
  async execute(caller: Caller, { deviceId, since }: HydrateBody): Promise<Hydration> {
    const position =
      since === undefined || since === null ? undefined : this.cursors.read(caller, deviceId, since);
    const scope = scopeOf(caller);
    const sight = sightOf(caller);
    await this.devices.noteSeen(caller, deviceId, this.clock.now());
    // The head comes first: whatever changes after it has its receipt behind the cursor, so that a client may see a change
    // before its receipt, and never a receipt without its change.
    const { head, hashThere } = await this.chains.headBeside(caller.workspaceId, position?.seq ?? 0);
    const bootstrap = await this.bootstrap.read(caller);
    const context = await this.context.read(caller);
    const room = MAX_BYTES - ENVELOPE_BYTES - Buffer.byteLength(JSON.stringify([bootstrap, context]));
    const goesOn =
      position !== undefined &&
      position.sight === sight &&
      (position.seq === 0 || position.hash === hashThere);
    const { items, end, more } = goesOn
      ? await this.missed.since(scope, position.seq, head, room)
      : await this.missed.latest(scope, head, room);
    const cursor = this.cursors.write(caller, deviceId, { ...end, sight });
    return { bootstrap, context, receipts: items, cursor, more, reset: position !== undefined && !goesOn };
  }
}
