import { IsOptional, Matches } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
import { ONE_LINE } from '../../platform/kernel/text.js';
import { MaxLength } from '../../platform/kernel/text-length.js';

/** The parameter of the paths, as it is documented. */
export const CHECKPOINT_PARAM = {
  name: 'checkpointId',
  description: 'The id of the checkpoint.',
  example: 'chk_01khqx3v2gs0a0k4y6t1r8m5cd',
};

/** Body of `POST /guardian/checkpoint`; it may be empty. */
export class TakeCheckpointBody {
  /** Its purpose, one line of 1 to 120 characters. @example 'Before the spring price list' */
  @IsOptional()
  @MaxLength(120)
  @Matches(/\S/, { message: '$property must be one line of 1 to 120 characters' })
  @Matches(ONE_LINE, { message: '$property must be one line of 1 to 120 characters' })
  @IsNotBlank()
  label?: string | null;
}

/** A checkpoint without what it holds. */
export class GuardianCheckpointSummary {
  /** The id of the checkpoint. @example 'chk_01khqx3v2gs0a0k4y6t1r8m5cd' */
  checkpointId!: string;
  /** Its purpose; null: none was given. @example 'Before the spring price list' */
  label!: string | null;
  /** When it was taken, Unix milliseconds. @example 1771402200000 */
  createdAt!: number;
  /** Who took it, or did what it was taken before. */
  createdBy!: ActorView;
  /**
   * Whether it was taken by itself, before a kill, an activation, a restore or the installation of a skill pack.
   * @example false
   */
  auto!: boolean;
  /** The number of the last receipt before it: what came behind that receipt happened since. @example 1201 */
  receiptSeq!: number;
  /** The hash of that receipt. @example '5f0c1c0ffb0f4d1b9a6d5f0d7f3fbb1c2f3a4b5c6d7e8f90123456789abcdef0' */
  receiptHash!: string;
  /**
   * SHA-256 of the canonical JSON (RFC 8785) of the whole record without this field.
   * @example '9d5ed678fe57bcca610140957afab571b5a0b5f3f0c6f8d1e2a3b4c5d6e7f809'
   */
  hash!: string;
}

/** Which version of a standing order was in force; versions never change. */
export class GuardianCheckpointOrder {
  /** The id of the standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** The number of the version. @example 2 */
  version!: number;
  /** The hash of the version. @example '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' */
  hash!: string;
  /** active: it decided; shadow: its decisions were only recorded @example 'active' */
  status!: 'active' | 'shadow';
}

/** What a revert can go back to. */
export class GuardianCheckpointSnapshot {
  /** The mode of the guardian; while it was killed or recovering, the mode before. @example 'guardrailed' */
  mode!: string;
  /** The versions of standing orders that were in force, as far as the caller may see the orders. */
  orders!: GuardianCheckpointOrder[];
  /**
   * The settings of the workspace, in the names of `GET /settings`; of the retention only what was set.
   * @example { "timezone": "Europe/Vienna", "currency": "EUR", "presence": "present" }
   */
  settings!: Record<string, unknown>;
}

/** A checkpoint of the guardian. */
export class GuardianCheckpointView extends GuardianCheckpointSummary {
  /** What was in force. */
  snapshot!: GuardianCheckpointSnapshot;
}

export class GuardianCheckpointPage extends PageFacts {
  /** The checkpoints of this page, newest first. */
  items!: GuardianCheckpointSummary[];
}
