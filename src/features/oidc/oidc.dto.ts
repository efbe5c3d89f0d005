import { IsOptional } from 'class-validator';
import { IsLocalPath } from './return-to.js';

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
