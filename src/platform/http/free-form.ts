import { ValidateBy, getMetadataStorage } from 'class-validator';
import type { Type } from '@nestjs/common';
import { type ClassTransformOptions, instanceToPlain, plainToInstance } from 'class-transformer';
import { ValidationFailed } from '../kernel/errors.js';

/** At most so many bytes of UTF-8 when it is written as JSON without spaces, which is how it is stored. */
export const MaxJsonBytes = (bytes: number) =>
  ValidateBy({
    name: 'maxJsonBytes',
    constraints: [bytes],
    validator: {
      validate: (value) => value === undefined || Buffer.byteLength(JSON.stringify(value)) <= bytes,
      defaultMessage: (args) => `${args!.property} must have at most ${bytes / 1024} KB as JSON`,
    },
  });

const FREE_FORM = 'freeForm';

/**
 * class-transformer looks each key of an object up among all the others: 80,000 keys take it five seconds, 10,000 a
 * tenth of one. No documented object comes near this number.
 */
const MAX_PROPERTIES = 1_000;

/**
 * A property of a body whose keys are the client's own: class-transformer never sees it. Only for properties of the
 * body itself, not of what is nested in it. A rule of class-validator, since mapped types take those over.
 */
export function FreeForm(): PropertyDecorator {
  return ValidateBy({ name: FREE_FORM, validator: { validate: () => true } });
}

/** class-transformer, as the validation pipe calls it. */
export const transformer = {
  plainToInstance<T>(type: Type<T>, plain: unknown, options?: ClassTransformOptions): T | T[] {
    if (typeof plain !== 'object' || plain === null) return plainToInstance(type, plain, options);
    const freeForm = freeFormOf(type);
    const [kept, rest] = [true, false].map((isFreeForm) =>
      Object.fromEntries(Object.entries(plain).filter(([name]) => freeForm.includes(name) === isFreeForm)),
    );
    assertFewProperties(rest!, '');
    return Object.assign(plainToInstance(type, rest, options) as T & object, kept);
  },
  classToPlain: instanceToPlain,
};

/** By class: class-validator looks through the rules of all classes for those of one. */
const found = new WeakMap<Type, string[]>();

function freeFormOf(type: Type): string[] {
  const known = found.get(type);
  if (known) return known;
  const rules = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  const names = rules.filter(({ name }) => name === FREE_FORM).map(({ propertyName }) => propertyName);
  found.set(type, names);
  return names;
}

function assertFewProperties(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  if (!Array.isArray(value) && entries.length > MAX_PROPERTIES) {
    const message = `an object must have at most ${MAX_PROPERTIES.toLocaleString('en')} properties here`;
    throw new ValidationFailed({ details: [{ path, rule: 'maxProperties', message }] });
  }
  for (const [name, inner] of entries) assertFewProperties(inner, path === '' ? name : `${path}.${name}`);
}
