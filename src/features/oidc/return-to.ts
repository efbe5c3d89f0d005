import { ValidateBy } from 'class-validator';
import { CONTROL } from '../../platform/kernel/text.js';
import { isLongerThan } from '../../platform/kernel/text-length.js';

const MAX_LENGTH = 500;
/** Any origin; a path that leaves it is none of ours. */
const HERE = 'https://here.invalid';

/**
 * Whether `value` is a path of this service and nothing else. A browser takes `//evil.example` and `/\evil.example` for
 * another host, and drops tabs and line breaks before it looks.
 */
export function isLocalPath(value: unknown): value is string {
  if (typeof value !== 'string' || isLongerThan(value, MAX_LENGTH)) return false;
  if (!/^\/(?![/\\])/.test(value) || value.includes('\\') || CONTROL.test(value)) return false;
  const url = URL.parse(value, HERE);
  return url?.origin === HERE && !url.pathname.startsWith('//');
}

export function IsLocalPath(): PropertyDecorator {
  return ValidateBy({
    name: 'isLocalPath',
    validator: {
      validate: isLocalPath,
      defaultMessage: () =>
        `$property must be a path of this service such as /app, of at most ${MAX_LENGTH} characters`,
    },
  });
}
