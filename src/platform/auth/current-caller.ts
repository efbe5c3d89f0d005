import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Caller } from './caller.js';
import type { AdmittedRequest } from '../http/admitted-request.js';

/** The workspace whose secret signed the request, on a route with `auth: 'signature'`. */
export const SignedFor = createParamDecorator((_: unknown, context: ExecutionContext): string => {
  const { signedFor } = context.switchToHttp().getRequest<AdmittedRequest>();
  if (signedFor === undefined) throw new Error('a route without a signature is signed for nobody');
  return signedFor;
});

/** The caller of a route with `auth: 'member'`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<AdmittedRequest>();
  if (!caller) throw new Error('a route without a token has no caller');
  return caller;
});
