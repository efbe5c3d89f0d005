import { ValidationPipe, type ValidationError } from '@nestjs/common';
import type { Fault } from '../kernel/define-error.js';
import { ValidationFailed } from '../kernel/errors.js';
import { transformer } from './free-form.js';

/** Bodies, queries and paths against their DTOs: unknown properties are refused by name, every fault is listed. */
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
    const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
      path,
      rule: rule === 'whitelistValidation' ? 'unknownProperty' : rule,
      message: rule === 'whitelistValidation' ? `${error.property} is not a known property` : message,
    }));
    return [...own, ...faultsOf(error.children ?? [], path)];
  });
}
