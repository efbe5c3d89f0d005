import type { Type } from '@nestjs/common';
import { type ClassTransformOptions, instanceToPlain, plainToInstance } from 'class-transformer';
import { ValidationFailed } from '../kernel/errors.js';

const FREE_FORM = Symbol('free-form');

/**
 * class-transformer looks each key of an object up among all the others: 80,000 keys take it five seconds, 10,000 a
 * tenth of one. No documented object comes near this number.
 */
const MAX_PROPERTIES = 1_000;

/**
 * A property of a body whose keys are the client's own: class-transformer never sees it. Only for properties of the
 * body itself, not of what is nested in it.
 */
export function FreeForm(): PropertyDecorator {
  return (prototype, property) =>
    Reflect.defineMetadata(FREE_FORM, [...freeFormOf(prototype), property], prototype);
}

/** class-transformer, as the validation pipe calls it. */
export const transformer = {
  plainToInstance<T>(type: Type<T>, plain: unknown, options?: ClassTransformOptions): T | T[] {
    if (typeof plain !== 'object' || plain === null) return plainToInstance(type, plain, options);
    const freeForm = freeFormOf(type.prototype as object);
    const [kept, rest] = [true, false].map((isFreeForm) =>
      Object.fromEntries(Object.entries(plain).filter(([name]) => freeForm.includes(name) === isFreeForm)),
    );
    assertFewProperties(rest!, '');
    return Object.assign(plainToInstance(type, rest, options) as T & object, kept);
  },
  classToPlain: instanceToPlain,
};

function freeFormOf(prototype: object): (string | symbol)[] {
  return Reflect.getMetadata(FREE_FORM, prototype) ?? [];
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
