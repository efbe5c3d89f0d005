import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import type { Caller } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { ExportWorkspace } from './export-workspace.js';
import { ExportRunning } from './tenancy.errors.js';

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
