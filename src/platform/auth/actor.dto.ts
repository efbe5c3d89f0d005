import type { Actor, Via } from './caller.js';

/** Who did something. */
export class ActorView implements Actor {
  /** member, agent, capo, consigliere, system, partner or admin @example 'member' */
  type!: Actor['type'];
  /**
   * The id of the member or partner, the role of the capo, or the first id of the agent's token.
   * @example 'mem_01kerpxzm0g7k7xtwmhd8ah2pd'
   */
  id!: string;
  /** How it is called. @example 'Mira Novak' */
  name!: string;
  /**
   * The surface through which it acted. `cli` and `dashboard` may be what the holder of a token says of its client; they grant nothing.
   * @example 'api'
   */
  via!: Via;
}

/** Who asks: the agent from outside whose token it is, or a member. */
export class AskingAgent {
  /** The first token of its rotations. @example 'tok_01kerqg9j0k7zrqfjnrxthcm4w' */
  tokenId!: string;
  /** As the token names the agent; null for a member's own token. @example 'invoice-bot' */
  name!: string | null;
}
