import { Transform } from 'class-transformer';
import { ValidateIf } from 'class-validator';

/** It may be left out. Null is a value here, and refused as the wrong one. */
export const IsOmittable = (): PropertyDecorator => ValidateIf((_body, value) => value !== undefined);

/**
 * A query value as the number that its decimal digits write; one below zero too, so that the rules of the property say
 * what is wrong with it. Any other text (`0x10`, `1e2`, `+5`, ` 5`, `٣`) stays text, for them to refuse: `Number` would
 * take most of it.
 */
export function FromDigits(): PropertyDecorator {
  return Transform(({ value }: { value: unknown }) =>
    typeof value === 'string' && /^(?:[0-9]+|-[1-9][0-9]*)$/.test(value) ? Number(value) : value,
  );
}

/** For `@IsInt` at a property that is a time: a sender of a date as text learns the expected format. */
export const UNIX_MILLISECONDS = {
  message: '$property must be a time in Unix milliseconds, a whole number such as 1798758000000',
};
