import { IsIn, IsInt, IsNumber, IsOptional, Max, Min, ValidateBy } from 'class-validator';

/** class-validator's own check of decimals passes numbers that JavaScript writes with an exponent. */
function IsInMillionths(): PropertyDecorator {
  return ValidateBy({
    name: 'isInMillionths',
    validator: {
      validate: (value) => typeof value === 'number' && Number(value.toFixed(6)) === value,
      defaultMessage: () => '$property must have at most six decimals',
    },
  });
}

/** How much the model calls of a workspace may use on one day of its zone. */
export class ModelBudgetView {
  /**
   * Where the prices of the model are known: in `currency`; 0 stops every call. Null: what the tier has.
   * @example 25
   */
  @IsOptional()
  @IsNumber({ allowNaN: false, allowInfinity: false })
  @IsInMillionths()
  @Min(0)
  @Max(1_000_000)
  amount?: number | null;

  /** Always US dollars, in which the prices of the model are given. @example 'USD' */
  @IsOptional()
  @IsIn(['USD'])
  currency?: 'USD';

  /**
   * Where they are not known: tokens, read and written; 0 stops every call. Null: what the tier has.
   * @example 2000000
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  @Max(1_000_000_000_000)
  tokens?: number | null;
}

/** An empty budget would be the tier's, which null says more clearly. */
export function NamesALimit(): PropertyDecorator {
  return ValidateBy({
    name: 'namesALimit',
    validator: {
      validate: (budget: Partial<ModelBudgetView> | null) =>
        (budget?.amount ?? null) !== null || (budget?.tokens ?? null) !== null,
      defaultMessage: () => '$property must name an amount or tokens; null as a whole is what the tier has',
    },
  });
}
