import { Injectable } from '@nestjs/common';
import { Work } from '../../platform/work/work.js';

/** Why work on a packet waits: standing orders delay it until a time. */
export const THROTTLED = 'THROTTLED';

/** The work packets that standing orders delay. */
@Injectable()
export class ThrottledWork {
  constructor(private readonly work: Work) {}

  /**
   * An order may delay less from now on, in the open transaction: what is delayed is decided again at once, instead of
   * waiting for a time that no order asks for any more.
   */
  async decideAgain(): Promise<void> {
    await this.work.hasten(THROTTLED);
  }
}
