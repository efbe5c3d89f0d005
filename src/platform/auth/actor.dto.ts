import type { Actor, Via } from './caller.js';

/** Who did something. */
export class ActorView implements Actor {
  /** member, capo, consigliere, system, partner or admin */
  type!: Actor['type'];
  /** The membership, the role of the capo, or the name of the part of the system. */
  id!: string;
  name!: string;
  /** The surface through which it came. */
  via!: Via;
}
