import { Transform } from 'class-transformer';

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
