import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { AdmittedRequest } from '../http/admitted-request.js';
import type { Caller } from './caller.js';

/** The caller of a route with `auth: 'member'`. */
export const CurrentCaller = createParamDecorator((_: unknown, context: ExecutionContext): Caller => {
  const { caller } = context.switchToHttp().getRequest<AdmittedRequest>();
  if (!caller) throw new Error('a route without a token has no caller');
  return caller;
});
