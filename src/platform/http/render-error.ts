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

/** An error as it stands in an answer: `error` of shape A. */
export interface ErrorObject {
  code: string;
  message: string;
  status: number;
  details?: unknown;
  detailsOmitted?: number;
}

export function errorObject(error: DomainError): ErrorObject {
  const { code, status } = error.definition;
  return {
    code,
    message: error.message,
    status,
    ...(error.details !== undefined && { details: error.details }),
    ...(error.detailsOmitted > 0 && { detailsOmitted: error.detailsOmitted }),
  };
}

/**
 * One of the two documented shapes, widened so that a reader of either finds its fields: shape B for a client that
 * named a version, shape A for all others (CONTRACT section 2).
 */
export function renderError(error: DomainError, requestId: string, version: ApiVersion | undefined): object {
  const shown = errorObject(error);
  const { reason } = error;
  if (version === undefined) return { error: shown, reason, requestId };
  const { code, ...rest } = shown;
  return { error: code.toLowerCase(), reason, requestId, ...rest };
}
