import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Channel } from '../../platform/database/channel.js';

/** Tells the dispatchers that a destination has something to be delivered, as an event does that is recorded. */
@Injectable()
export class DispatcherBell {
  constructor(
    private readonly db: Db,
    private readonly channel: Channel,
  ) {}

  /** Rings once the open transaction has committed. */
  ring(destinationId: string): void {
    const { scope, afterCommit } = this.db.unit;
    const { workspaceId } = scope;
    afterCommit.push(() => this.channel.publishNow({ topic: 'delivery', workspaceId, id: destinationId }));
  }
}
