import { Body, Controller, Delete, Get, Param, Post, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { AlreadyExists, InvalidTransition, NotFound } from '../../platform/kernel/errors.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { TokenService } from './token.service.js';
import { CreateTokenBody, NewToken, TOKEN_PARAM, TokenPage, TokenView } from './tokens.dto.js';
import { Tokens } from './tokens.repository.js';
import { LimitReached } from './workspaces.errors.js';

@Controller(['api/pro/tokens', 'api/admin/tokens'])
export class TokensController {
  constructor(
    private readonly tokens: Tokens,
    private readonly tokenService: TokenService,
  ) {}

  /** The operator tokens of the workspace, revoked ones too; never a token itself. */
  @Get()
  @Route({ auth: 'member', role: 'admin', stops: true, returns: { 200: TokenPage } })
  list(@CurrentCaller() caller: Caller, @Query() query: PageQuery): Promise<TokenPage> {
    return this.tokens.list(scopeOf(caller), query);
  }

  /** Makes an operator token; the answer is the only one that shows it. */
  @Post()
  @Route({
    auth: 'member',
    role: 'admin',
    secretAnswer: true,
    returns: { 201: NewToken },
    errors: [NotFound, AlreadyExists, LimitReached],
  })
  create(@CurrentCaller() caller: Caller, @Body() body: CreateTokenBody): Promise<NewToken> {
    return this.tokenService.create(caller, body);
  }

  /** Revokes a token; within a second no process accepts it any more. */
  @ApiParam(TOKEN_PARAM)
  @Delete(':id')
  @Route({ auth: 'member', role: 'admin', stops: true, returns: { 200: TokenView } })
  revoke(@CurrentCaller() caller: Caller, @Param('id') tokenId: string): Promise<TokenView> {
    return this.tokenService.revoke(caller, tokenId);
  }

  /** Pauses a token: within a second no process accepts it until it is resumed. Members pause their own, admins any. */
  @ApiParam(TOKEN_PARAM)
  @Post(':id/pause')
  @Route({ auth: 'member', stops: true, returns: { 200: TokenView }, errors: [InvalidTransition] })
  pause(@CurrentCaller() caller: Caller, @Param('id') tokenId: string): Promise<TokenView> {
    return this.tokenService.pause(caller, tokenId);
  }

  /** Lets a paused token be used again. */
  @ApiParam(TOKEN_PARAM)
  @Post(':id/resume')
  @Route({ auth: 'member', role: 'admin', returns: { 200: TokenView }, errors: [InvalidTransition] })
  resume(@CurrentCaller() caller: Caller, @Param('id') tokenId: string): Promise<TokenView> {
    return this.tokenService.resume(caller, tokenId);
  }

  /** Revokes a token and makes another that replaces it, shown once. */
  @ApiParam(TOKEN_PARAM)
  @Post(':id/rotate')
  @Route({
    auth: 'member',
    role: 'admin',
    secretAnswer: true,
    returns: { 201: NewToken },
    errors: [InvalidTransition],
  })
  rotate(@CurrentCaller() caller: Caller, @Param('id') tokenId: string): Promise<NewToken> {
    return this.tokenService.rotate(caller, tokenId);
  }
}
