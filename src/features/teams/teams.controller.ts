import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists, InvalidTransition } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import {
  AddToTeamBody,
  ArchivedTeam,
  ArchiveTeamBody,
  InviteBody,
  LimitReached,
  MEMBER_PARAM,
  MemberPage,
  Members,
  MembersQuery,
  MemberView,
  RemovedMember,
  RoleBody,
  TEAM_PARAM,
  TeamBody,
  TeamPage,
  TeamRoleBody,
  Teams,
  TeamsQuery,
  TeamView,
} from '../workspaces/index.js';
import { AddedToTeam, InviteView } from './invites.dto.js';
import { MemberService } from './members.service.js';
import { LastOwner, TeamHasOpenWork } from './teams.errors.js';
import { TeamService } from './teams.service.js';

@Controller(['api/pro/teams', 'api/admin/teams'])
export class TeamsController {
  constructor(
    private readonly teams: Teams,
    private readonly teamService: TeamService,
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
    return this.teamService.create(caller, body);
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
    return this.teamService.rename(caller, teamId, body);
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
    return this.teamService.archive(caller, teamId, body);
  }
}

@Controller(['api/pro/teams/:id/members', 'api/admin/teams/:id/members'])
export class TeamMembersController {
  constructor(
    private readonly teams: Teams,
    private readonly members: Members,
    private readonly memberService: MemberService,
    private readonly teamService: TeamService,
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
    return this.memberService.bringToTeam(caller, teamId, body);
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
    return this.teamService.changeRole(caller, teamId, uid, body.role);
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
    return this.teamService.removeMember(caller, teamId, uid);
  }
}

/** The members of the workspace. */
@Controller(['api/pro/members', 'api/admin/members'])
export class MembersController {
  constructor(
    private readonly members: Members,
    private readonly memberService: MemberService,
  ) {}

  /** The members of the workspace, whichever teams they are in. */
  @Get()
  @Route({ auth: 'member', role: 'admin', stops: true, returns: { 200: MemberPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: MembersQuery): Promise<MemberPage> {
    return this.members.list(scopeOf(caller), query);
  }

  /** Invites somebody to the workspace, and to no team. */
  @Post()
  @Route({
    auth: 'member',
    role: 'admin',
    changesMembership: true,
    returns: { 201: InviteView },
    errors: [AlreadyExists, LimitReached],
  })
  invite(@CurrentCaller() caller: Caller, @Body() body: InviteBody): Promise<InviteView> {
    return this.memberService.inviteToWorkspace(caller, body);
  }

  /** Changes a member's role in the workspace. */
  @ApiParam(MEMBER_PARAM)
  @Patch(':uid')
  @Route({
    auth: 'member',
    role: 'admin',
    changesMembership: true,
    returns: { 200: MemberView },
    errors: [LastOwner],
  })
  update(
    @CurrentCaller() caller: Caller,
    @Param('uid') uid: string,
    @Body() body: RoleBody,
  ): Promise<MemberView> {
    return this.memberService.changeRole(caller, uid, body.role);
  }

  /** Removes a member: no token of theirs or made by them opens anything after a second, and their invites are withdrawn. */
  @ApiParam(MEMBER_PARAM)
  @Delete(':uid')
  @Route({
    auth: 'member',
    role: 'admin',
    changesMembership: true,
    stops: true,
    returns: { 200: RemovedMember },
    errors: [LastOwner],
  })
  remove(@CurrentCaller() caller: Caller, @Param('uid') uid: string): Promise<RemovedMember> {
    return this.memberService.remove(caller, uid);
  }
}
