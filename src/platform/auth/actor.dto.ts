import type { Actor, Via } from './caller.js';

/** Who did something. */
export class ActorView implements Actor {
  /**
   * member, capo, consigliere, system, partner or admin
   * @example 'member'
   */
  type!: Actor['type'];
  /**
   * The id of the member or partner, or the role of the capo.
   * @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd'
   */
  id!: string;
  /**
   * How it is called.
   * @example 'Mira Novak'
   */
  name!: string;
  /**
   * The surface through which it acted.
   * @example 'api'
   */
  via!: Via;
}
