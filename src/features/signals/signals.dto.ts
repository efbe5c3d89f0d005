import { ApiProperty } from '@nestjs/swagger';
import { IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import type { SignalSeverity, SignalType } from './signal.entity.js';

/** Body of `POST /ack`. */
export class AcknowledgeBody {
  /**
   * The signal.
   * @example 'sig_01khqws0y0g13zyp5vc6y27gyg'
   */
  @IsString()
  @MaxLength(64)
  signalId!: string;

  /**
   * Why, for the receipt; at most 1,000 characters.
   * @example 'I called Jane.'
   */
  @IsOptional()
  @IsString()
  @MaxLength(1000)
  note?: string;

  /**
   * Unix milliseconds, in the future and within a year. The signal is then not acknowledged but shown again later.
   * @example 1771488000000
   */
  @IsOptional()
  @IsInt()
  snoozeUntil?: number;
}

/** What a signal is about. */
export class SignalEntityReference {
  /**
   * What kind of record it is.
   * @example 'buyer'
   */
  type!: string;
  /**
   * The id of the record.
   * @example 'acme-jane'
   */
  id!: string;
}

/** Something a person should know. */
export class SignalView {
  /**
   * The id of the signal.
   * @example 'sig_01khqws0y0g13zyp5vc6y27gyg'
   */
  signalId!: string;
  /**
   * revenue, buyer, confidence, connector, policy, agent, report or partner
   * @example 'confidence'
   */
  type!: SignalType;
  /**
   * info, warning or critical
   * @example 'warning'
   */
  severity!: SignalSeverity;
  /**
   * What it is about, in one line.
   * @example 'Trust of buyer acme-jane fell to 45 %'
   */
  title!: string;
  /**
   * What there is to know, Markdown.
   * @example 'Trust fell from 65 % by 20 points to **45 %**.'
   */
  body!: string;
  /**
   * How much it matters; null: it was not scored.
   * @example 0.45
   */
  score!: number | null;
  /** Who raised it. */
  source!: ActorView;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The capo that it concerns; null: none. */
  capo!: string | null;
  /** What it is about; null: nothing in particular. */
  entity!: SignalEntityReference | null;
  /**
   * When it was raised, Unix milliseconds.
   * @example 1771402200000
   */
  createdAt!: number;
  /** When it was acknowledged, Unix milliseconds; null: not yet. */
  acknowledgedAt!: number | null;
  /** Who acknowledged it; null: nobody yet. */
  @ApiProperty({ example: null })
  acknowledgedBy!: ActorView | null;
  /** When it is shown again, Unix milliseconds; null: it is not snoozed. */
  snoozedUntil!: number | null;
}
