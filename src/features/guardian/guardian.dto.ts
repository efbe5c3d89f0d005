import { IsIn, IsOptional, IsString, MaxLength, MinLength } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { GuardianMode } from '../terms/terms.js';

/** The guardian's state (`GET /guardian`). */
export class GuardianView {
  /** observe, supervised, guardrailed, autonomous, killed or recovering */
  mode!: GuardianMode;
  /** Work packets that wait for a person. */
  pending!: number;
  /** Counts kills. */
  epoch!: number;
  /** Unix milliseconds. */
  killedAt!: number | null;
  killedBy!: ActorView | null;
  reason!: string | null;
  lastCheckpointId!: string | null;
  /** Work packets denied in the last 24 hours. */
  blocked24h!: number;
}

/** Body of the kill switch; it may be empty. */
export class KillBody {
  /** Why, for the receipt. */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  reason?: string;
}

export class HaltedWork {
  queued!: number;
  executing!: number;
  sending!: number;
}

export class UnconfirmedPacket {
  workPacketId!: string;
  /** Unix milliseconds. */
  since!: number;
}

export class KillAnswer {
  mode!: 'killed';
  /** False when the switch was engaged already. */
  changed!: boolean;
  epoch!: number;
  /** Unix milliseconds. */
  killedAt!: number;
  receiptId!: string | null;
  halted!: HaltedWork;
  /** Work packets that were already handed out; whether they arrived is not known yet. */
  unconfirmed!: UnconfirmedPacket[];
}

export class RevertBody {
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(1000)
  reason?: string;

  /** `resume` goes back to the mode before the kill and lets the halted work go on. */
  @IsOptional()
  @IsIn(['resume'])
  mode?: 'resume';
}

export class RevertStep {
  workPacketId!: string;
  reversibility!: string;
  compensation!: unknown;
  status!: 'planned' | 'done' | 'failed' | 'not_possible' | 'skipped';
}

export class RevertAnswer {
  revertId!: string;
  mode!: 'resume';
  plan!: RevertStep[];
  receiptId!: string;
}

export class ModeBody {
  @IsIn(['observe', 'supervised', 'guardrailed', 'autonomous'])
  mode!: 'observe' | 'supervised' | 'guardrailed' | 'autonomous';
}
