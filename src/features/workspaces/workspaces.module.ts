import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FirstRun } from './first-run.js';
import { TeamOfRequest } from './team-of-request.js';
import { TokenUse } from './token-use.js';
import { Workspaces } from './workspaces.repository.js';
import {
  MemberEntity,
  TeamEntity,
  TeamMemberEntity,
  TokenEntity,
  UserEntity,
  WorkspaceEntity,
} from './workspaces.entity.js';

@Module({
  imports: [
    TypeOrmModule.forFeature([WorkspaceEntity, UserEntity, MemberEntity, TeamEntity, TeamMemberEntity, TokenEntity]),
  ],
  providers: [FirstRun, TeamOfRequest, TokenUse, Workspaces],
  exports: [FirstRun, TeamOfRequest, Workspaces],
})
export class WorkspacesModule {}
