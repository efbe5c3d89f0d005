import { ValidateBy, IsOptional } from 'class-validator';
import { isLongerThan } from '../../platform/kernel/text-length.js';
import { CONTROL } from '../../platform/kernel/text.js';

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

function IsLocalPath(): PropertyDecorator {
  return ValidateBy({
    name: 'isLocalPath',
    validator: {
      validate: isLocalPath,
      defaultMessage: () =>
        `$property must be a path of this service such as /app, of at most ${MAX_LENGTH} characters`,
    },
  });
}

export class OidcStartQuery {
  /** Where to go on after the sign-in: a path of this service. @example '/app' */
  @IsOptional()
  @IsLocalPath()
  returnTo?: string;
}

/** Whether people can sign in by OpenID Connect, and where. */
export class OidcOffer {
  /** Whether a provider is set up. @example true */
  enabled!: boolean;
  /** What people know the provider by; null: none is set up. @example 'Acme account' */
  name!: string | null;
  /**
   * Where the browser goes to sign in, with `?returnTo=` and a path of this service to go on to; null: none is set up.
   * @example '/api/admin/oidc/start'
   */
  startPath!: string | null;
}
