import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiParam, ApiTags } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import {
  CONNECTOR_PARAM,
  ConnectorCheckPage,
  type ConnectorCheckView,
  ConnectorPage,
  type ConnectorView,
} from './connector-health.dto.js';
import { type VisibleConnector, VisibleConnectors } from './visible-connectors.reader.js';
import { asShown } from './connector-health.js';
import type { ConnectorCheckEntity } from './connector.entity.js';

/** Without whose it is: what the whole service has belongs to a workspace that others need not know. */
function viewOf(connector: VisibleConnector): ConnectorView {
  return {
    connectorId: connector.connectorId,
    name: connector.name,
    kind: connector.kind,
    ...asShown(connector),
    latencyMs: connector.latencyMs,
    lastCheckedAt: connector.lastCheckedAt,
    lastOkAt: connector.lastOkAt,
    consecutiveFailures: connector.consecutiveFailures,
  };
}

function checkViewOf(check: ConnectorCheckEntity): ConnectorCheckView {
  const { workspaceId: _workspace, connectorId: _connector, ...shown } = check;
  return shown;
}

/** What is configured and how it is; nothing is registered here (SPECIFICATION, Connector health). */
@ApiTags('connectors')
@Controller('api/pro/connectors')
export class ConnectorHealthController {
  constructor(private readonly connectors: VisibleConnectors) {}

  /** The connectors that the workspace may use, each with its health. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: ConnectorPage } })
  async list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<ConnectorPage> {
    const page = await this.connectors.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(viewOf) };
  }

  /** The checks of a connector, newest first. */
  @ApiParam(CONNECTOR_PARAM)
  @Get(':connectorId/checks')
  @Route({ auth: 'member', replica: true, returns: { 200: ConnectorCheckPage }, errors: [NotFound] })
  async listChecks(
    @CurrentCaller() caller: Caller,
    @Param('connectorId') connectorId: string,
    @Query() query: PageQuery,
  ): Promise<ConnectorCheckPage> {
    const connector = isId('con', connectorId)
      ? await this.connectors.find(scopeOf(caller), connectorId)
      : undefined;
    if (!connector) throw new NotFound();
    const page = await this.connectors.checks(connector, query);
    return { ...page, items: page.items.map(checkViewOf) };
  }
}
