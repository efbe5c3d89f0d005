import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { ToolsService } from '../tools/index.js';

/**
 * Checks the parameters of a request before its transaction opens; a transaction that asked for the check would begin twice. It
 * refuses only a caller with too many checks waiting: of the parameters the use case judges, with the tool as it finds it then.
 */
@Injectable()
export class ParamsBeforehand implements CanActivate {
  constructor(private readonly tools: ToolsService) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const { caller, body } = context.switchToHttp().getRequest<AdmittedRequest>();
    const { tool, params } = (body ?? {}) as { tool?: unknown; params?: unknown };
    await this.tools.checkParamsBeforehand(caller!, tool, params);
    return true;
  }
}
