import { ApiProperty } from '@nestjs/swagger';
import { IsIn, IsInt, IsOptional, IsString } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import {
  SIGNAL_SEVERITIES,
  SIGNAL_STATUSES,
  SIGNAL_TYPES,
  type SignalSeverity,
  type SignalStatus,
  type SignalType,
} from './signal-types.js';

/** The parameter of the paths, as it is documented. */
export const SIGNAL_PARAM = {
  name: 'signalId',
  description: 'The id of the signal.',
  example: 'sig_01khqws0y0g13zyp5vc6y27gyg',
};

/** Query of `GET /signals`; what is left out does not narrow it. */
export class SignalsQuery extends TeamPageQuery {
  /** Only signals of this type. @example 'buyer' */
  @IsOptional()
  @IsIn(SIGNAL_TYPES)
  type?: SignalType;

  /** Only signals of this severity. @example 'critical' */
  @IsOptional()
  @IsIn(SIGNAL_SEVERITIES)
  severity?: SignalSeverity;

  /** Only signals that are open, snoozed or acknowledged now. @example 'open' */
  @IsOptional()
  @IsIn(SIGNAL_STATUSES)
  status?: SignalStatus;
}

/** Body of `POST /ack`. */
export class AcknowledgeBody {
  /** The signal. @example 'sig_01khqws0y0g13zyp5vc6y27gyg' */
  @IsString()
  @MaxLength(64)
  signalId!: string;

  /** Why, for the receipt; at most 1,000 characters. @example 'I called Jane.' */
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
  /** What kind of record it is. @example 'buyer' */
  type!: string;
  /** The id of the record. @example 'acme-jane' */
  id!: string;
}

/** Something a person should know, without its text. */
export class SignalSummary {
  /** The id of the signal. @example 'sig_01khqws0y0g13zyp5vc6y27gyg' */
  signalId!: string;
  /** revenue, buyer, confidence, connector, policy, agent, report or partner @example 'confidence' */
  type!: SignalType;
  /** info, warning or critical @example 'warning' */
  severity!: SignalSeverity;
  /** Its subject, in one line. @example 'Trust of buyer acme-jane fell to 45 %' */
  title!: string;
  /** How much it matters; null: it was not scored. @example 0.45 */
  score!: number | null;
  /** Who raised it. */
  source!: ActorView;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The capo that it concerns; null: none. */
  capo!: string | null;
  /** Its subject; null: nothing in particular. */
  entity!: SignalEntityReference | null;
  /** When it was raised, Unix milliseconds. @example 1771402200000 */
  createdAt!: number;
  /** When it was acknowledged, Unix milliseconds; null: not yet. */
  acknowledgedAt!: number | null;
  /** Who acknowledged it; null: nobody yet. */
  @ApiProperty({ example: null })
  acknowledgedBy!: ActorView | null;
  /** When it is shown again, Unix milliseconds; null: it is not snoozed. */
  snoozedUntil!: number | null;
}

/** Something a person should know. */
export class SignalView extends SignalSummary {
  /** What there is to know, Markdown. @example 'Trust fell from 65 % by 20 points to **45 %**.' */
  body!: string;
}

export class SignalPage extends PageFacts {
  /** The signals of this page, newest first. */
  items!: SignalSummary[];
}
