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

function faultsOf(errors: readonly ValidationError[], parent = ''): Fault[] {
  return errors.flatMap((error) => {
    const path = parent === '' ? error.property : `${parent}.${error.property}`;
    return [...ownFault(error, path), ...faultsOf(error.children ?? [], path)];
  });
}

/**
 * One fault per cause: a text where a number belongs breaks the limits of the number as well. Decorators are applied from
 * the bottom up, so the last constraint is the one that stands first in the class: what kind of value it must be.
 */
function ownFault({ property, constraints = {} }: ValidationError, path: string): Fault[] {
  return Object.entries(constraints)
    .slice(-1)
    .map(([rule, message]) =>
      rule === 'whitelistValidation'
        ? { path, rule: 'unknownProperty', message: `${property} is not a known property` }
        : { path, rule, message },
    );
}
