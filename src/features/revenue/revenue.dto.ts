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
  /** At most four decimals; negative for money given back. */
  @IsAmount()
  amount!: number;

  /** ISO 4217, such as EUR. */
  @IsCurrency()
  currency!: string;

  /** Where the money comes from. */
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, SAYS_SOMETHING)
  source!: string;

  @IsOptional()
  @IsString()
  @MaxLength(2000)
  description?: string;

  /** Unix milliseconds; now, if not said. */
  @IsOptional()
  @IsInt()
  @Min(0)
  occurredAt?: number;

  /** The name of the event in the system it comes from: however often it is sent, it is recorded once. */
  @IsOptional()
  @IsString()
  @MaxLength(200)
  @Matches(/\S/, SAYS_SOMETHING)
  externalId?: string;
}

/** A revenue event as recorded. */
export class RevenueEventView {
  eventId!: string;
  amount!: number;
  /** ISO 4217. */
  currency!: string;
  source!: string;
  description!: string | null;
  /** Unix milliseconds. */
  occurredAt!: number;
  externalId!: string | null;
  /** Unix milliseconds. */
  createdAt!: number;
}
