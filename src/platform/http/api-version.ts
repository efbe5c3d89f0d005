import { UnsupportedApiVersion } from '../kernel/errors.js';

export const API_VERSION_HEADER = 'X-Service-API-Version';
export const SUPPORTED_VERSIONS = ['2026-04'] as const;
export type ApiVersion = (typeof SUPPORTED_VERSIONS)[number];

/** What answers a client that names no version. */
export const CURRENT_VERSION: ApiVersion = '2026-04';

/** The version this header names, if it is one we speak. */
export function knownVersion(header: string | string[] | undefined): ApiVersion | undefined {
  return SUPPORTED_VERSIONS.find((version) => version === header);
}

/**
 * The version a client asked for; undefined without the header.
 * @throws UnsupportedApiVersion with the supported values in the details
 */
export function askedVersion(header: string | string[] | undefined): ApiVersion | undefined {
  const known = knownVersion(header);
  if (header !== undefined && known === undefined) {
    throw new UnsupportedApiVersion({ details: { supported: SUPPORTED_VERSIONS } });
  }
  return known;
}
