import { IsInt, IsOptional, IsString, Matches, MaxLength, Min, ValidateBy } from 'class-validator';
import { IsCurrency } from '../../platform/kernel/currency.js';
import { isAmount } from './revenue-event.js';

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
  /**
   * At most four decimals; negative for money given back, never 0.
   * @example 600.5
   */
  @IsAmount()
  amount!: number;

  /**
   * ISO 4217 code in upper case.
   * @example 'EUR'
   */
  @IsCurrency()
  currency!: string;

  /**
   * Where the money comes from, at most 200 characters.
   * @example 'Acme'
   */
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, SAYS_SOMETHING)
  source!: string;

  /**
   * What it was paid for, at most 2,000 characters.
   * @example 'Invoice 2026-017, pallets'
   */
  @IsOptional()
  @IsString()
  @MaxLength(2000)
  description?: string;

  /**
   * When it was paid, Unix milliseconds; now, if not said.
   * @example 1771402500000
   */
  @IsOptional()
  @IsInt()
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
  externalId?: string;
}

/** A revenue event as recorded. */
export class RevenueEventView {
  /**
   * The id of the revenue event.
   * @example 'rev_01khqx25x0tg5p3ahry9a0b0ny'
   */
  eventId!: string;
  /**
   * The amount, in `currency`; negative for money given back.
   * @example 600.5
   */
  amount!: number;
  /**
   * ISO 4217 code.
   * @example 'EUR'
   */
  currency!: string;
  /**
   * Where the money comes from.
   * @example 'Acme'
   */
  source!: string;
  /**
   * What it was paid for; null: not said.
   * @example 'Invoice 2026-017, pallets'
   */
  description!: string | null;
  /**
   * When it was paid, Unix milliseconds.
   * @example 1771402500000
   */
  occurredAt!: number;
  /**
   * The name of the event in the system it comes from; null: none was given.
   * @example 'invoice-2026-017'
   */
  externalId!: string | null;
  /**
   * When it was recorded, Unix milliseconds.
   * @example 1771402500200
   */
  createdAt!: number;
}
