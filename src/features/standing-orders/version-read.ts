import { z } from 'zod';
import { defineError } from '../../platform/kernel/define-error.js';
import { count } from '../../platform/kernel/error-details.js';
import { ContentChanged, PreconditionRequired } from '../../platform/kernel/errors.js';
import type { StandingOrderEntity } from './standing-order.entity.js';

export const VersionChanged = defineError(
  'VERSION_CHANGED',
  412,
  'The standing order has a newer version. Read it and its simulation, and name that version.',
  { details: z.object({ version: count('The version now.', 3) }) },
);

/** Which version of an order somebody had before them when they asked for something. */
export interface VersionRead {
  /** `version` of the body. */
  version: number | null | undefined;
  /** The hash that `If-Match` names. */
  hash: string | null;
}

/** For an acknowledgement that names nothing. */
const NOT_NAMED =
  'An acknowledgement holds for what was read: name the version in `version`, or the hash of the order in If-Match.';

/**
 * An owner acknowledges the version that they read, even if somebody has changed the order since.
 * @throws VersionChanged, ContentChanged, or PreconditionRequired for an acknowledgement that names nothing
 */
export function requireVersionRead(
  order: Pick<StandingOrderEntity, 'version' | 'hash'>,
  { version = null, hash }: VersionRead,
  acknowledged: boolean,
): void {
  if (acknowledged && version === null && hash === null)
    throw new PreconditionRequired({ message: NOT_NAMED });
  if (version !== null && version !== order.version) {
    throw new VersionChanged({ details: { version: order.version } });
  }
  requireHash(order, hash);
}

/** @throws ContentChanged */
export function requireHash(order: Pick<StandingOrderEntity, 'version' | 'hash'>, hash: string | null): void {
  if (hash === null || hash === order.hash) return;
  const message = 'The standing order says something else by now than what If-Match names; read it again.';
  throw new ContentChanged({ message, details: { version: order.version, hash: order.hash } });
}
