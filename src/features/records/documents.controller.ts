import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { type Caller, scopeOf } from '../../platform/auth/caller.js';
import { CurrentCaller } from '../../platform/auth/current-caller.js';
import { Route } from '../../platform/http/route.js';
import { NotFound } from '../../platform/kernel/errors.js';
import { isId } from '../../platform/kernel/ids.js';
import { PageQuery } from '../../platform/kernel/pages.dto.js';
import { DOCUMENT_PARAM, DocumentPage, DocumentView } from './documents.dto.js';
import { Documents } from './documents.repository.js';

@Controller('api/pro/documents')
export class DocumentsController {
  constructor(private readonly documents: Documents) {}

  /** What the capos filed, newest first, without the texts. */
  @Get()
  @Route({ auth: 'member', replica: true, returns: { 200: DocumentPage } })
  list(@CurrentCaller() caller: Caller, @Query() page: PageQuery): Promise<DocumentPage> {
    return this.documents.list(scopeOf(caller), page);
  }

  /** One filed document with its text. */
  @ApiParam(DOCUMENT_PARAM)
  @Get(':id')
  @Route({ auth: 'member', replica: true, returns: { 200: DocumentView } })
  async get(@CurrentCaller() caller: Caller, @Param('id') id: string): Promise<DocumentView> {
    const document = isId('doc', id) ? await this.documents.find(scopeOf(caller), id) : undefined;
    if (!document) throw new NotFound();
    return document;
  }
}
