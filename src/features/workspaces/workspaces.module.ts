import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FirstRun } from './first-run.js';
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
  providers: [FirstRun],
  exports: [FirstRun],
})
export class WorkspacesModule {}
