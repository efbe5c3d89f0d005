import { Type } from 'class-transformer';
import {
  IsIn,
  IsInt,
  IsNumber,
  IsObject,
  IsOptional,
  IsString,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
  type ValidationArguments,
} from 'class-validator';
import { isConsistent, type Metric, METRICS } from './confidence-update.js';
import { MaxLength } from '../../platform/kernel/text-length.js';
import { UNIX_MILLISECONDS } from '../../platform/kernel/unix-milliseconds.js';

const ONE_LINE = /^\P{Cc}+$/u;
const SAYS_SOMETHING = {
  message: '$property must be text of at least one character, without control characters',
};

/** Refuses a confidence that the two other figures contradict; one that is no number is the fault of its own rule. */
const FitsPriorAndDelta = () =>
  ValidateBy({
    name: 'fitsPriorAndDelta',
    validator: {
      validate: (newConfidence: unknown, { object }: ValidationArguments) => {
        const { priorConfidence, delta } = object as { priorConfidence?: unknown; delta?: unknown };
        const figures = [priorConfidence, delta, newConfidence];
        if (!figures.every((figure) => typeof figure === 'number')) return true;
        return isConsistent(...(figures as [number, number, number]));
      },
      defaultMessage: () => 'newConfidence must equal priorConfidence + delta within 0.01',
    },
  });

/** The record that an update comes from. */
export class SourceServiceRef {
  /** The table of the record, at most 200 characters. @example 'calls' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  table!: string;

  /** The id of the record, at most 200 characters. @example 'call-42' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  id!: string;
}

/** Body of `POST /partner/induction`: one signed confidence update (SPECIFICATION, Events). */
export class ConfidenceUpdateBody {
  /** The workspace that receives the update. @example 'wks_01kerpxzm02h8rz4dtvnsqab5g' */
  @IsString()
  @MaxLength(64)
  workspaceId!: string;

  /** The entitlement that is updated: one buyer. At most 200 characters. @example 'acme-jane' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  customerEntitlementId!: string;

  /** The target that produced the update, at most 200 characters. @example 'target-3' */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  partnerTargetId!: string;

  /**
   * The partner's name for this update, at most 200 characters: however often it is sent, it has one effect.
   * @example 'pev-2026-02-18-0001'
   */
  @IsString()
  @MaxLength(200)
  @Matches(ONE_LINE, SAYS_SOMETHING)
  partnerEventId!: string;

  /** What the confidence is about. @example 'trust' */
  @IsIn(METRICS)
  metric!: Metric;

  /** The signed change, -1 to 1. @example -0.2 */
  @IsNumber()
  @Min(-1)
  @Max(1)
  delta!: number;

  /**
   * The confidence from now on, 0 to 1. With `priorConfidence`, it equals `priorConfidence + delta` within 0.01.
   * @example 0.45
   */
  @IsNumber()
  @Min(0)
  @Max(1)
  @FitsPriorAndDelta()
  newConfidence!: number;

  /** The confidence before, 0 to 1. @example 0.65 */
  @IsOptional()
  @IsNumber()
  @Min(0)
  @Max(1)
  priorConfidence?: number | null;

  /** The record that the update comes from. */
  @IsOptional()
  @IsObject()
  @ValidateNested()
  @Type(() => SourceServiceRef)
  sourceServiceRef?: SourceServiceRef | null;

  /**
   * When the update was fired, Unix milliseconds, at most 5 minutes from the time of the service.
   * @example 1771402200000
   */
  @IsInt(UNIX_MILLISECONDS)
  @Min(0)
  firedAt!: number;
}

export class InductionAnswer {
  /** Always true. @example true */
  accepted!: boolean;
  /** True when the same update was accepted before; nothing has happened a second time. @example false */
  duplicate!: boolean;
  /** The partner's name for the update. @example 'pev-2026-02-18-0001' */
  partnerEventId!: string;
  /** The signal that the update raised. @example 'sig_01khqws0y0g13zyp5vc6y27gyg' */
  signalId!: string;
}

/** The secret that the partner persona service signs its updates with. */
export class PartnerSecretView {
  /** The secret that is in force. @example '3q2-7w4XyZ0aBcDeFgHiJkLmNoPqRsTuVwXyZ012345' */
  secret!: string;
  /** When it was put in force, Unix milliseconds. @example 1768209000000 */
  setAt!: number;
  /** Until when the secret before this one is accepted as well, Unix milliseconds; null: there was none, or its time is over. */
  previousUntil!: number | null;
}
