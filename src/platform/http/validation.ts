import { ValidationPipe, type ValidationError } from '@nestjs/common';
import type { Fault } from '../kernel/define-error.js';
import { ValidationFailed } from '../kernel/errors.js';
import { transformer } from './free-form.js';

/** Bodies, queries and paths against their DTOs: unknown properties are refused by name, every fault is listed once. */
export function validationPipe(): ValidationPipe {
  return new ValidationPipe({
    transform: true,
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    stopAtFirstError: false,
    transformerPackage: transformer,
    validationError: { target: false, value: false },
    exceptionFactory: (errors) => new ValidationFailed({ details: faultsOf(errors) }),
  });
}

/** One for each cause; what class-validator says is wrong is several for one. */
export function faultsOf(errors: readonly ValidationError[], parent = ''): Fault[] {
  return errors.flatMap((error) => {
    const path = parent === '' ? error.property : `${parent}.${error.property}`;
    return [...ownFault(error, path), ...faultsOf(error.children ?? [], path)];
  });
}

/** How much there may be of a value; whatever is of another kind breaks these as well. */
const LIMITS = new Set([
  'max',
  'min',
  'isPositive',
  'maxLength',
  'minLength',
  'arrayMaxSize',
  'arrayMinSize',
]);

/**
 * One fault per cause: a text where a number belongs, or nothing at all, breaks the limits of the number as well. What kind of
 * value it must be comes first; of several such rules the one that stands first in the class, which class-validator lists last.
 */
function ownFault({ property, constraints = {} }: ValidationError, path: string): Fault[] {
  const broken = Object.entries(constraints);
  const first = broken.findLast(([rule]) => !LIMITS.has(rule)) ?? broken.at(-1);
  if (!first) return [];
  const [rule, message] = first;
  return rule === 'whitelistValidation'
    ? [{ path, rule: 'unknownProperty', message: `${property} is not a known property` }]
    : [{ path, rule, message }];
}
