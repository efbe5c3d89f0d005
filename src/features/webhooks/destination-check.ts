import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  type Type,
  UseGuards,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { validationPipe } from '../../platform/http/validation.js';
import { ValidationFailed } from '../../platform/kernel/errors.js';
import { GuardedRequest } from '../../platform/outbound/guarded-request.js';
import { InvalidDestination } from './webhooks.errors.js';

export type DestinationVerdict = Awaited<ReturnType<GuardedRequest['check']>>;

/** @throws InvalidDestination with the reason of the refusal */
export function assertAllowed(verdict: DestinationVerdict): void {
  if (verdict.ok) return;
  const { reason, message } = verdict;
  throw new InvalidDestination({ message, details: { reason } });
}

const BODY = Symbol('body with a url');
const verdicts = new WeakMap<AdmittedRequest, DestinationVerdict>();

/**
 * Looks the destination's name up before the transaction opens, since none may wait for the network. The verdict is
 * only noted: the use case refuses, so that a refusal is an outcome like any other, which an Idempotency-Key replays.
 * A body with a fault is left to the validation that follows, and nothing is looked up for it.
 */
@Injectable()
class DestinationCheck implements CanActivate {
  readonly #validation = validationPipe();

  constructor(
    private readonly reflector: Reflector,
    private readonly outbound: GuardedRequest,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const metatype = this.reflector.get<Type<{ url?: string }>>(BODY, context.getHandler());
    const request = context.switchToHttp().getRequest<AdmittedRequest>();
    try {
      const { url } = await this.#validation.transform(request.body, { type: 'body', metatype });
      if (url !== undefined) verdicts.set(request, await this.outbound.check(url));
    } catch (error) {
      if (!(error instanceof ValidationFailed)) throw error;
    }
    return true;
  }
}

/** On a handler that takes this body: its `url` is checked on the way. */
export function ChecksDestination(body: Type<{ url?: string }>): MethodDecorator {
  return applyDecorators(SetMetadata(BODY, body), UseGuards(DestinationCheck));
}

/** What the check found. It is there whenever a valid body has a url; an invalid one never reaches the handler. */
export const CheckedDestination = createParamDecorator(
  (_: unknown, context: ExecutionContext): DestinationVerdict | undefined =>
    verdicts.get(context.switchToHttp().getRequest<AdmittedRequest>()),
);
