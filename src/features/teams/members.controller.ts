import { Body, Controller, Delete, Get, Param, Patch, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists } from '../../platform/kernel/errors.js';
import { ChangeRole, InviteMember, RemoveMember } from './members.service.js';
import { InviteView } from './invites.dto.js';
import {
  InviteBody,
  LimitReached,
  MEMBER_PARAM,
  MemberPage,
  MemberView,
  Members,
  MembersQuery,
  RemovedMember,
  RoleBody,
} from '../workspaces/index.js';
import { LastOwner } from './teams.errors.js';

/** The members of the workspace. */
@Controller(['api/pro/members', 'api/admin/members'])
export class MembersController {
  constructor(
    private readonly members: Members,
    private readonly inviteMember: InviteMember,
    private readonly changeRole: ChangeRole,
    private readonly removeMember: RemoveMember,
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
    return this.inviteMember.toWorkspace(caller, body);
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
    return this.changeRole.execute(caller, uid, body.role);
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
    return this.removeMember.execute(caller, uid);
  }
}
