import { IsInt, IsOptional, IsString, Matches, Max, Min, ValidateBy, IsIn } from 'class-validator';
import { ApiProperty } from '@nestjs/swagger';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { IsCurrency } from '../../platform/kernel/currency.js';
import { FromDigits, UNIX_MILLISECONDS } from '../../platform/kernel/decorators.js';
import { PageFacts, PageQuery, TeamPageQuery } from '../../platform/kernel/pages.dto.js';
import { IsNotBlank } from '../../platform/kernel/plain-text.js';
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
export const DOCUMENT_PARAM = {
  name: 'id',
  description: 'The id of the document.',
  example: 'doc_01khqw9gmrq2wae1nqn3xx0x6d',
};

/** A filed document without its text. */
export class DocumentSummary {
  /** The id of the document. @example 'doc_01khqw9gmrq2wae1nqn3xx0x6d' */
  documentId!: string;
  /** The team that it belongs to; null: none. */
  teamId!: string | null;
  /** The directive that it came from. @example 'dir_01khqw6q006hs686p8sr7arg9t' */
  directiveId!: string;
  /** The work packet that filed it. @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8' */
  workPacketId!: string;
  /** The title of the document. @example 'Memo: Delivery delays in February' */
  title!: string;
  /** The format of the text. @example 'markdown' */
  format!: 'markdown';
  /** When it was filed, Unix milliseconds. @example 1771401691800 */
  createdAt!: number;
  /** When the filing was undone, Unix milliseconds; null: it was not. */
  withdrawnAt!: number | null;
}

/** A filed document. */
export class DocumentView extends DocumentSummary {
  /** The text, Markdown. @example '# Delivery delays in February' */
  body!: string;
}

export class DocumentPage extends PageFacts {
  /** The documents of this page, newest first. */
  items!: DocumentSummary[];
}

/** Four decimals cover every currency of ISO 4217, and below 10^13 a double still holds the hundredths. */
function isAmount(value: unknown): boolean {
  if (typeof value !== 'number' || value === 0) return false;
  return Math.abs(value) < 1e13 && Number(value.toFixed(4)) === value;
}

/** class-validator's own check of decimals fails on numbers that JavaScript writes with an exponent. */
const IsAmount = () =>
  ValidateBy({
    name: 'isAmount',
    validator: {
      validate: isAmount,
      defaultMessage: () => 'amount must be a number other than 0, below 10^13, with at most four decimals',
    },
  });

const SAYS_SOMETHING = { message: '$property must not be empty' };

/** Body of `POST /revenue-events`. */
export class RecordRevenueBody {
  /** At most four decimals; negative for money given back, never 0. @example 600.5 */
  @IsAmount()
  amount!: number;

  /** ISO 4217 code in upper case. @example 'EUR' */
  @IsCurrency()
  currency!: string;

  /** Where the money comes from, at most 200 characters. @example 'Acme' */
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, SAYS_SOMETHING)
  @IsNotBlank()
  source!: string;

  /** What it was paid for, at most 2,000 characters. @example 'Invoice 2026-017, pallets' */
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  description?: string;

  /** When it was paid, Unix milliseconds; now, if not said. @example 1771402500000 */
  @IsOptional()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  occurredAt?: number;

  /**
   * The name of the event in the system it comes from, at most 200 characters: however often it is sent, it is
   * recorded once.
   * @example 'invoice-2026-017'
   */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, SAYS_SOMETHING)
  @IsNotBlank()
  externalId?: string;

  /**
   * The team that earned it; left out: the caller's only team, for owner and admin of the workspace none.
   * @example 'team_01kerq74k0wtbyzq0h359nrdxj'
   */
  @IsOptional()
  @Matches(/^team_[0-9a-z]{26}$/, { message: 'teamId must be the id of a team' })
  teamId?: string;
}

/** The last moment that a timestamp of the database and a Date both hold. */
const YEAR_9999 = 253_402_300_799_999;

/** Query of `GET /revenue-events`; what is left out does not narrow it. */
export class RevenueEventsQuery extends PageQuery {
  /** Only events from this source, written in the same way; at most 200 characters. @example 'Acme' */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, SAYS_SOMETHING)
  source?: string;

  /** Only events in this currency, its ISO 4217 code in upper case. @example 'EUR' */
  @IsOptional()
  @IsCurrency()
  currency?: string;

  /** Only what was paid then or later, Unix milliseconds. @example 1771401600000 */
  @IsOptional()
  @FromDigits()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  @Max(YEAR_9999)
  since?: number;

  /** Only what was paid before then, Unix milliseconds. @example 1771488000000 */
  @IsOptional()
  @FromDigits()
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  @Max(YEAR_9999)
  until?: number;
}

/** A revenue event as recorded. */
export class RevenueEventView {
  /** The id of the revenue event. @example 'rev_01khqx25x0tg5p3ahry9a0b0ny' */
  eventId!: string;
  /** The team that earned it; null: none. @example 'team_01kerq74k0wtbyzq0h359nrdxj' */
  teamId!: string | null;
  /** The amount, in `currency`; negative for money given back. @example 600.5 */
  amount!: number;
  /** ISO 4217 code. @example 'EUR' */
  currency!: string;
  /** Where the money comes from. @example 'Acme' */
  source!: string;
  /** What it was paid for; null: not said. @example 'Invoice 2026-017, pallets' */
  description!: string | null;
  /** When it was paid, Unix milliseconds. @example 1771402500000 */
  occurredAt!: number;
  /** The name of the event in the system it comes from; null: none was given. @example 'invoice-2026-017' */
  externalId!: string | null;
  /** The work packet that recorded it; null: it was reported to the service, or takes another event back. */
  workPacketId!: string | null;
  /** The event that this one takes back, with the same amount the other way; null: it takes none back. */
  reverses!: string | null;
  /** When it was recorded, Unix milliseconds. @example 1771402500200 */
  createdAt!: number;
}

/** The answer to a reported revenue event. */
export class RecordedRevenue extends RevenueEventView {
  /** True when the same event was reported before: this is its record, and nothing was recorded a second time. @example false */
  duplicate!: boolean;
}

export class RevenueEventPage extends PageFacts {
  /** The events of this page, the latest first. */
  items!: RevenueEventView[];
}

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
class SignalEntityReference {
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
