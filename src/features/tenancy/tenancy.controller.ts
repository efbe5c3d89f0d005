import { Body, Controller, Delete, Get, Post, Req, Res, Param, Query } from '@nestjs/common';
import { ApiTags, ApiParam } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { InvalidTransition, AlreadyExists } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { InviteView } from '../teams/index.js';
import { LimitReached } from '../workspaces/index.js';
import {
  DeletionBody,
  DeletionStatus,
  NewWorkspace,
  NewWorkspaceBody,
  OwnerBody,
  WORKSPACE_PARAM,
  WorkspacePage,
} from './tenancy.dto.js';
import { DeletionService } from './deletion.service.js';
import {
  DeletionBegun,
  DeletionRequested,
  ExportRequired,
  FirstWorkspace,
  ExportRunning,
} from './tenancy.errors.js';
import { ExportWorkspace } from './export-workspace.js';
import { WorkspaceList } from './tenancy.repository.js';
import { WorkspacesService } from './workspaces.service.js';

/** The end of a workspace. */
@ApiTags('workspace')
@Controller('api/admin/workspace/deletion')
export class DeletionController {
  constructor(private readonly deletion: DeletionService) {}

  /** Whether the workspace is going to be deleted and when, and its newest export. */
  @Get()
  @Route({ auth: 'member', role: 'owner', returns: { 200: DeletionStatus } })
  getDeletion(@CurrentCaller() caller: Caller): Promise<DeletionStatus> {
    return this.deletion.status(caller);
  }

  /** Has the workspace deleted in seven days; until then nothing leaves it, nobody changes it, and an owner can take it back. */
  @Post()
  @Route({
    auth: 'member',
    role: 'owner',
    changesMembership: true,
    returns: { 200: DeletionStatus },
    errors: [ExportRequired, FirstWorkspace, DeletionRequested],
  })
  async requestDeletion(
    @CurrentCaller() caller: Caller,
    @Body() body: DeletionBody,
  ): Promise<DeletionStatus> {
    await this.deletion.request(caller, body);
    return this.deletion.status(caller);
  }

  /** Takes the deletion back: everything is as it was before it was asked for. */
  @Delete()
  @Route({
    auth: 'member',
    role: 'owner',
    changesMembership: true,
    returns: { 200: DeletionStatus },
    errors: [InvalidTransition, DeletionBegun],
  })
  async withdrawDeletion(@CurrentCaller() caller: Caller): Promise<DeletionStatus> {
    await this.deletion.withdraw(caller);
    return this.deletion.status(caller);
  }
}

/** The two lines that every export has; between them, records, receipts and checkpoints. */
const LINES_EXAMPLE = `{"n":1,"kind":"manifest","manifest":{"format":"consigliere-export/1","exportId":"exp_01kerq9p3v5x7z9b1d3f5h7k9m","workspaceId":"wks_01kerpxzkz8m1c3v5b7n9q2w4e","workspaceName":"Northwind","at":1768209000000,"receiptHead":{"seq":1,"hash":"9deb65b8788f41ff94a217842017db2f843954fc0eb46110835903908e5a265f"},"signingKeys":[],"tables":["members"],"leftOut":{"sessions":"who is signed in at the moment"}}}
{"n":2,"kind":"end","end":{"counts":{"members":0,"receipts":0,"checkpoints":0},"sha256":"0f2a…","keyId":"5c1e0b7a9d3f2e46","signature":"…"}}
`;

/** A copy of everything in the workspace. */
@ApiTags('workspace')
@Controller('api/admin/workspace/export')
export class ExportController {
  constructor(private readonly exportWorkspace: ExportWorkspace) {}

  /** Everything of the workspace as it stands at this moment, as JSON lines that can be verified without the service. */
  @Get()
  @Route({
    auth: 'member',
    role: 'owner',
    limit: { limit: 10, windowSeconds: 3600 },
    returns: { 200: { 'application/x-ndjson': LINES_EXAMPLE } },
    errors: [ExportRunning],
  })
  async export(
    @CurrentCaller() caller: Caller,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    // Express answers HEAD by the handler of GET: an export that nobody receives is none.
    if (request.method === 'HEAD') response.type('application/x-ndjson').end();
    else await this.exportWorkspace.execute(caller, response);
  }
}

/** The workspaces of the service, for the owners of the first one. */
@Controller('api/admin/workspaces')
export class WorkspacesController {
  constructor(
    private readonly workspaceList: WorkspaceList,
    private readonly workspaces: WorkspacesService,
  ) {}

  /** All workspaces of the service, and nothing of what is in them. */
  @Get()
  @Route({ auth: 'member', role: 'owner', returns: { 200: WorkspacePage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<WorkspacePage> {
    await this.workspaceList.assertFirst(caller);
    return this.workspaceList.page(caller, query);
  }

  /** Makes a workspace and invites its owner by mail; the caller is no member of it. */
  @Post()
  @Route({
    auth: 'member',
    role: 'owner',
    returns: { 201: NewWorkspace },
    errors: [AlreadyExists, LimitReached],
  })
  create(@CurrentCaller() caller: Caller, @Body() body: NewWorkspaceBody): Promise<NewWorkspace> {
    return this.workspaces.create(caller, body);
  }

  /** Invites the owner of a workspace that nobody has joined yet once more; what was sent before opens nothing then. */
  @ApiParam(WORKSPACE_PARAM)
  @Post(':workspaceId/invite')
  @Route({
    auth: 'member',
    role: 'owner',
    returns: { 201: InviteView },
    errors: [InvalidTransition],
  })
  invite(
    @CurrentCaller() caller: Caller,
    @Param('workspaceId') workspaceId: string,
    @Body() body: OwnerBody,
  ): Promise<InviteView> {
    return this.workspaces.inviteOwner(caller, workspaceId, body);
  }
}
