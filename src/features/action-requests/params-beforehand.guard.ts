import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { scopeOf } from '../../platform/auth/caller.js';
import type { AdmittedRequest } from '../../platform/http/admitted-request.js';
import { faultsOfAnyParams, ToolParams, ToolsService } from '../tools/index.js';
import { checkParamsBeforehand } from './action-request.js';

/**
 * Checks the parameters of a request before its transaction opens; a transaction that asked for the check would begin twice. Refuses
 * nothing: the use case does, with the tool as it finds it then.
 */
@Injectable()
export class ParamsBeforehand implements CanActivate {
  constructor(
    private readonly tools: ToolsService,
    private readonly toolParams: ToolParams,
  ) {}

  async canActivate(context: ExecutionContext): Promise<true> {
    const { caller, body } = context.switchToHttp().getRequest<AdmittedRequest>();
    const { tool: name, params } = (body ?? {}) as { tool?: unknown; params?: unknown };
    if (typeof name !== 'string' || !isObject(params) || faultsOfAnyParams(params).length > 0) return true;
    const tool = await this.tools.find(scopeOf(caller!), name);
    if (tool) await checkParamsBeforehand(tool, params, this.toolParams);
    return true;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
