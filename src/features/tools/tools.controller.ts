import {
  Body,
  Controller,
  Delete,
  Get,
  Headers,
  HttpStatus,
  Param,
  Patch,
  Post,
  Query,
  Res,
} from '@nestjs/common';
import { ApiHeader, ApiParam } from '@nestjs/swagger';
import type { Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { namedByIfMatch } from '../../platform/http/negotiated.js';
import { ACTS, ASKS, Route } from '../../platform/http/route.js';
import {
  AlreadyExists,
  ContentChanged,
  InvalidTransition,
  NotFound,
  PreconditionRequired,
  Unavailable,
} from '../../platform/kernel/errors.js';
import {
  ChangeToolBody,
  RegisterToolBody,
  TOOL_IF_MATCH,
  TOOL_PARAM,
  ToolPage,
  ToolsQuery,
  ToolView,
} from './tools.dto.js';
import { isPause, TooManyTools, ToolsService } from './tools.service.js';

@Controller('api/pro/tools')
export class ToolsController {
  constructor(private readonly tools: ToolsService) {}

  /** The tools of the workspace by name, without descriptions and schemas. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: ToolPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: ToolsQuery): Promise<ToolPage> {
    return this.tools.list(caller, query);
  }

  /** Registers a tool, as an admin, or else proposes it; the same content again is answered as it was registered. */
  @Post()
  @Route({
    ...ASKS,
    // A proxy proposes all tools of a server when it lists them, and an assistant starts several at once.
    limit: { limit: 300, windowSeconds: 60 },
    returns: { 201: ToolView, 200: ToolView },
    errors: [AlreadyExists, TooManyTools, Unavailable],
  })
  async create(
    @CurrentCaller() caller: Caller,
    @Body() body: RegisterToolBody,
    @Res({ passthrough: true }) response: Response,
  ): Promise<ToolView> {
    const { tool, isNew } = await this.tools.register(caller, body);
    response
      .status(isNew ? HttpStatus.CREATED : HttpStatus.OK)
      .location(`/api/pro/tools/${encodeURIComponent(tool.name)}`);
    return tool;
  }

  /** One tool, whatever its status. */
  @ApiParam(TOOL_PARAM)
  @Get(':name')
  @Route({ auth: 'member', replica: true, returns: { 200: ToolView }, errors: [NotFound] })
  get(@CurrentCaller() caller: Caller, @Param('name') name: string): Promise<ToolView> {
    return this.tools.get(caller, name);
  }

  /** Changes a tool as it was read, activates or pauses it; operators may only pause it. */
  @ApiParam(TOOL_PARAM)
  @ApiHeader(TOOL_IF_MATCH)
  @Patch(':name')
  @Route({
    ...ACTS,
    stops: isPause,
    returns: { 200: ToolView },
    errors: [NotFound, InvalidTransition, ContentChanged, PreconditionRequired, Unavailable],
  })
  update(
    @CurrentCaller() caller: Caller,
    @Param('name') name: string,
    @Body() body: ChangeToolBody,
    @Headers('if-match') ifMatch?: string,
  ): Promise<ToolView> {
    return this.tools.change(caller, name, body, namedByIfMatch(ifMatch));
  }

  /** Deletes a tool; requests for it are then for one that is not registered. */
  @ApiParam(TOOL_PARAM)
  @Delete(':name')
  @Route({ auth: 'member', role: 'admin', returns: { 200: ToolView }, errors: [NotFound] })
  delete(@CurrentCaller() caller: Caller, @Param('name') name: string): Promise<ToolView> {
    return this.tools.delete(caller, name);
  }
}
