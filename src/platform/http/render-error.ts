import { HttpException } from '@nestjs/common';
import { isCancelled, isOutage } from '../database/database-errors.js';
import { DomainError } from '../kernel/define-error.js';
import { Internal, MalformedJson, NotFound, Unavailable } from '../kernel/errors.js';
import type { ApiVersion } from './api-version.js';

/** Any thrown value as an error that a client may see; what is not known is INTERNAL, with nothing else. */
export function asDomainError(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  if (isOutage(error) || isCancelled(error)) return new Unavailable({ cause: error });
  if (error instanceof HttpException && error.getStatus() === 404) return new NotFound({ cause: error });
  // The framework's only 400, in its two forms: a path that cannot be decoded.
  if (error instanceof URIError || (error instanceof HttpException && error.getStatus() === 400)) {
    return new MalformedJson({ message: 'The path is not valid percent-encoding.', cause: error });
  }
  return new Internal({ cause: error });
}

/**
 * One of the two documented shapes, widened so that a reader of either finds its fields: shape B for a client that
 * named a version, shape A for all others (CONTRACT section 2).
 */
export function renderError(error: DomainError, requestId: string, version: ApiVersion | undefined): object {
  const { code, status } = error.definition;
  const details = {
    ...(error.details !== undefined && { details: error.details }),
    ...(error.detailsOmitted > 0 && { detailsOmitted: error.detailsOmitted }),
  };
  const { message, reason } = error;
  return version === undefined
    ? { error: { code, message, status, ...details }, reason, requestId }
    : { error: code.toLowerCase(), reason, requestId, message, status, ...details };
}
