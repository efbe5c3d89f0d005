import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists, InvalidTransition } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { ArchiveTeam, ChangeTeamRole, CreateTeam, RemoveFromTeam, RenameTeam } from './teams.service.js';
import { InviteMember } from './members.service.js';
import { AddedToTeam } from './invites.dto.js';
import {
  AddToTeamBody,
  ArchiveTeamBody,
  ArchivedTeam,
  LimitReached,
  MEMBER_PARAM,
  MemberPage,
  MemberView,
  Members,
  RemovedMember,
  TEAM_PARAM,
  TeamBody,
  TeamPage,
  TeamRoleBody,
  TeamView,
  Teams,
  TeamsQuery,
} from '../workspaces/index.js';
import { TeamHasOpenWork } from './teams.errors.js';

@Controller(['api/pro/teams', 'api/admin/teams'])
export class TeamsController {
  constructor(
    private readonly teams: Teams,
    private readonly createTeam: CreateTeam,
    private readonly renameTeam: RenameTeam,
    private readonly archiveTeam: ArchiveTeam,
  ) {}

  /** The caller's teams; owner and admin of the workspace see all. */
  @Get()
  @Route({ auth: 'member', returns: { 200: TeamPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: TeamsQuery): Promise<TeamPage> {
    return this.teams.list(caller, query);
  }

  /** Makes a team. */
  @Post()
  @Route({
    auth: 'member',
    role: 'admin',
    changesMembership: true,
    returns: { 201: TeamView },
    errors: [AlreadyExists, LimitReached],
  })
  create(@CurrentCaller() caller: Caller, @Body() body: TeamBody): Promise<TeamView> {
    return this.createTeam.execute(caller, body);
  }

  /** Renames a team. */
  @ApiParam(TEAM_PARAM)
  @Patch(':id')
  @Route({
    auth: 'member',
    role: 'admin',
    changesMembership: true,
    returns: { 200: TeamView },
    errors: [AlreadyExists, InvalidTransition],
  })
  rename(
    @CurrentCaller() caller: Caller,
    @Param('id') teamId: string,
    @Body() body: TeamBody,
  ): Promise<TeamView> {
    return this.renameTeam.execute(caller, teamId, body);
  }

  /** Archives a team; its open work goes to another team, or to none. */
  @ApiParam(TEAM_PARAM)
  @Post(':id/archive')
  @Route({
    auth: 'member',
    role: 'admin',
    changesMembership: true,
    returns: { 200: ArchivedTeam },
    errors: [InvalidTransition, TeamHasOpenWork],
  })
  archive(
    @CurrentCaller() caller: Caller,
    @Param('id') teamId: string,
    @Body() body: ArchiveTeamBody,
  ): Promise<ArchivedTeam> {
    return this.archiveTeam.execute(caller, teamId, body);
  }
}

@Controller(['api/pro/teams/:id/members', 'api/admin/teams/:id/members'])
export class TeamMembersController {
  constructor(
    private readonly teams: Teams,
    private readonly members: Members,
    private readonly inviteMember: InviteMember,
    private readonly changeTeamRole: ChangeTeamRole,
    private readonly removeFromTeam: RemoveFromTeam,
  ) {}

  /** The members of a team. */
  @ApiParam(TEAM_PARAM)
  @Get()
  @Route({ auth: 'member', returns: { 200: MemberPage } })
  async list(
    @CurrentCaller() caller: Caller,
    @Param('id') teamId: string,
    @Query() query: PageQuery,
  ): Promise<MemberPage> {
    await this.teams.get(caller, teamId);
    return this.members.listOf(scopeOf(caller), teamId, query);
  }

  /** Owner and admin of the workspace add a member of it to a team; anyone else is invited by mail. */
  @ApiParam(TEAM_PARAM)
  @Post()
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    returns: { 201: AddedToTeam },
    errors: [AlreadyExists, InvalidTransition, LimitReached],
  })
  add(
    @CurrentCaller() caller: Caller,
    @Param('id') teamId: string,
    @Body() body: AddToTeamBody,
  ): Promise<AddedToTeam> {
    return this.inviteMember.toTeam(caller, teamId, body);
  }

  /** Changes a member's role in a team. */
  @ApiParam(MEMBER_PARAM)
  @ApiParam(TEAM_PARAM)
  @Patch(':uid')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    returns: { 200: MemberView },
  })
  update(
    @CurrentCaller() caller: Caller,
    @Param('id') teamId: string,
    @Param('uid') uid: string,
    @Body() body: TeamRoleBody,
  ): Promise<MemberView> {
    return this.changeTeamRole.execute(caller, teamId, uid, body.role);
  }

  /** Removes a member from a team, and one who was in the workspace for it alone from that too. */
  @ApiParam(MEMBER_PARAM)
  @ApiParam(TEAM_PARAM)
  @Delete(':uid')
  @Route({
    auth: 'member',
    role: 'admin',
    teamRole: true,
    changesMembership: true,
    stops: true,
    returns: { 200: RemovedMember },
  })
  remove(
    @CurrentCaller() caller: Caller,
    @Param('id') teamId: string,
    @Param('uid') uid: string,
  ): Promise<RemovedMember> {
    return this.removeFromTeam.execute(caller, teamId, uid);
  }
}
