import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, hasRole, roleIn, scopeOf } from '../../../platform/auth/caller.js';
import { CurrentCaller } from '../../../platform/auth/current-caller.js';
import { Route } from '../../../platform/http/route.js';
import { InvalidTransition, NotFound } from '../../../platform/kernel/errors.js';
import { isId } from '../../../platform/kernel/ids.js';
import { Work } from '../../../platform/work/work.js';
import { specified } from '../../../platform/rate-limit/limits.js';
import { RevertAnswer } from '../../guardian/index.js';
import { GuardianHalted } from '../../terms/index.js';
import { UndoPacket } from './undo-packets.js';
import { summaryOf, viewOf } from './work-packet.js';
import {
  UndoPacketBody,
  WORK_PACKET_PARAM,
  WorkPacketPage,
  WorkPacketQuery,
  WorkPacketView,
} from './work-packets.dto.js';
import { WorkPacketsReader } from './work-packets.reader.js';

@Controller('api/pro/work-packets')
export class WorkPacketsController {
  constructor(
    private readonly packets: WorkPacketsReader,
    private readonly work: Work,
    private readonly undoPacket: UndoPacket,
  ) {}

  /** The work packets of the capos, newest first. */
  @Get()
  @Route({
    auth: 'member',
    replica: true,
    limit: specified('/api/pro/work-packets'),
    returns: { 200: WorkPacketPage },
  })
  async list(@CurrentCaller() caller: Caller, @Query() query: WorkPacketQuery): Promise<WorkPacketPage> {
    const page = await this.packets.list(scopeOf(caller), query);
    return { ...page, items: page.items.map(summaryOf) };
  }

  /** One work packet with its complete parameters, the decision about it and what came of it. */
  @ApiParam(WORK_PACKET_PARAM)
  @Get(':id')
  @Route({ auth: 'member', replica: true, returns: { 200: WorkPacketView }, errors: [NotFound] })
  async get(@CurrentCaller() caller: Caller, @Param('id') workPacketId: string): Promise<WorkPacketView> {
    const scope = scopeOf(caller);
    if (!isId('pkt', workPacketId)) throw new NotFound();
    // Before the packet: an attempt that ends in between may leave its next time untold, and never its outcome.
    const progress = await this.work.progress(scope, ['packet.send'], workPacketId);
    const packet = await this.packets.find(scope, workPacketId);
    if (!packet) throw new NotFound();
    const nextAttemptAt = progress?.lastError ? progress.nextAttemptAt : null;
    return viewOf(packet, hasRole(roleIn(caller, packet.teamId), 'operator'), nextAttemptAt);
  }

  /** Undoes one executed work packet, as a revert of one; no kill is needed. */
  @ApiParam(WORK_PACKET_PARAM)
  @Post(':id/undo')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    returns: { 200: RevertAnswer },
    errors: [NotFound, InvalidTransition, GuardianHalted],
  })
  undo(
    @CurrentCaller() caller: Caller,
    @Param('id') workPacketId: string,
    @Body() { reason }: UndoPacketBody,
  ): Promise<RevertAnswer> {
    return this.undoPacket.execute(caller, workPacketId, reason);
  }
}
