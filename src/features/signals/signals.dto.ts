import { IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { SignalSeverity, SignalType } from './signal.entity.js';

/** Body of `POST /ack`. */
export class AcknowledgeBody {
  /** The signal. */
  @IsString()
  @MaxLength(64)
  signalId!: string;

  /** Why, for the receipt. */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  note?: string;

  /** Unix milliseconds, in the future and within a year. The signal is then not acknowledged but shown again later. */
  @IsOptional()
  @IsInt()
  snoozeUntil?: number;
}

/** What a signal is about. */
export class SignalEntityReference {
  type!: string;
  id!: string;
}

/** Something a person should know. */
export class SignalView {
  signalId!: string;
  /** revenue, buyer, confidence, connector, policy, agent, report or partner */
  type!: SignalType;
  /** info, warning or critical */
  severity!: SignalSeverity;
  title!: string;
  /** Markdown. */
  body!: string;
  /** How much it matters, where it was scored. */
  score!: number | null;
  /** Who raised it. */
  source!: ActorView;
  teamId!: string | null;
  capo!: string | null;
  entity!: SignalEntityReference | null;
  /** Unix milliseconds. */
  createdAt!: number;
  /** Unix milliseconds. */
  acknowledgedAt!: number | null;
  acknowledgedBy!: ActorView | null;
  /** Unix milliseconds. */
  snoozedUntil!: number | null;
}
