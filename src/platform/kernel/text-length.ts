import { buildMessage, ValidateBy, type ValidationOptions } from 'class-validator';

/**
 * The length of a text is its number of code points: what JSON Schema, PostgreSQL's `char_length` and zod count, so that a limit is
 * the same in the OpenAPI document, in a request and in a table. `.length` counts 👍 twice; class-validator leaves out the selector
 * in ❤️, and so let twice as many of them through as the tables take. Limits on storage and indexes are limits of bytes.
 */
export function lengthOf(text: string): number {
  return [...text].length;
}

/** Counts only where it is in doubt: a code point is one or two of the units that `.length` counts. */
export function isLongerThan(text: string, most: number): boolean {
  return text.length > most && (text.length > most * 2 || lengthOf(text) > most);
}

/*
 * The decorators have the names of those of class-validator because the plugin that writes the OpenAPI document goes by the names:
 * it writes `maxLength` and `minLength`, which mean what these check.
 */

/** At most so many code points. */
export function MaxLength(most: number, options?: ValidationOptions): PropertyDecorator {
  return lengthRule('maxLength', options, {
    isMet: (text) => !isLongerThan(text, most),
    must: `be at most ${characters(most)} long`,
  });
}

/** At least so many code points. */
export function MinLength(least: number, options?: ValidationOptions): PropertyDecorator {
  return lengthRule('minLength', options, {
    isMet: (text) => isLongerThan(text, least - 1),
    must: `be at least ${characters(least)} long`,
  });
}

/** So many code points. */
export function Length(least: number, most: number, options?: ValidationOptions): PropertyDecorator {
  return lengthRule('isLength', options, {
    isMet: (text) => isLongerThan(text, least - 1) && !isLongerThan(text, most),
    must: `be text of ${least} to ${characters(most)}`,
  });
}

function lengthRule(
  name: string,
  options: ValidationOptions | undefined,
  { isMet, must }: { isMet: (text: string) => boolean; must: string },
): PropertyDecorator {
  const validator = {
    validate: (value: unknown) => typeof value === 'string' && isMet(value),
    defaultMessage: buildMessage((each) => `${each}$property must ${must}`, options),
  };
  return ValidateBy({ name, validator }, options);
}

/** A limit in words: 4,000 characters. */
export function characters(count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? 'character' : 'characters'}`;
}
