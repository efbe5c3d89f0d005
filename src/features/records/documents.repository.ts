import { Injectable } from '@nestjs/common';
import type { Actor } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import { newestFirst, readPage, where } from '../../platform/database/listing.js';
import { columnsOf } from '../../platform/database/table.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { Clock } from '../../platform/kernel/clock.js';
import { type Id, newId } from '../../platform/kernel/ids.js';
import type { Page, PageQuery } from '../../platform/kernel/pages.dto.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { DocumentEntity } from './records.entity.js';
import type { DocumentSummary, DocumentView } from './records.dto.js';

/** The text is left out of lists: a page of a hundred could be ten megabytes. */
const SUMMARY = columnsOf(DocumentEntity, { without: ['workspaceId', 'body'] });

export type NewDocument = Pick<
  DocumentEntity,
  'teamId' | 'directiveId' | 'workPacketId' | 'title' | 'body' | 'createdAt'
> & {
  documentId?: Id<'doc'>;
  actor: Actor;
  capo: string | null;
};

@Injectable()
export class Documents {
  constructor(
    private readonly db: Db,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * Files a document in the open transaction; row and receipt are written with what comes next. A second document of
   * the same packet fails the transaction (documents_once_per_packet). Answers its id.
   */
  file({ documentId = newId('doc'), actor, capo, ...document }: NewDocument): Id<'doc'> {
    const { workspaceId } = this.db.unit.scope;
    this.db.insert(DocumentEntity, {
      ...document,
      documentId,
      workspaceId,
      format: 'markdown',
      withdrawnAt: null,
    });
    this.receipts.append({
      actor,
      action: 'document.filed',
      entity: { type: 'document', id: documentId },
      directiveId: document.directiveId,
      teamId: document.teamId,
      capo,
      summary: `${actor.name} filed a document: ${document.title}`,
      details: { workPacketId: document.workPacketId },
    });
    return documentId;
  }

  /** Withdraws a document, as the undo of `document.file`; false when there is nothing to withdraw. */
  async withdraw(documentId: string, by: Actor): Promise<boolean> {
    const [document] = await this.db.query<Pick<DocumentEntity, 'title' | 'directiveId' | 'teamId'>>(
      `update documents set withdrawn_at = $3 where workspace_id = $1 and document_id = $2 and withdrawn_at is null
       returning title, directive_id, team_id`,
      [this.db.unit.scope.workspaceId, documentId, new Date(this.clock.now())],
    );
    if (!document) return false;
    this.receipts.append({
      actor: by,
      action: 'document.withdrawn',
      entity: { type: 'document', id: documentId },
      directiveId: document.directiveId,
      teamId: document.teamId,
      summary: `${by.name} withdrew the document: ${document.title}`,
    });
    return true;
  }

  /** What is filed and not withdrawn, newest first. */
  list(scope: Scope, query: PageQuery): Promise<Page<DocumentSummary>> {
    const listing = {
      name: 'documents',
      select: SUMMARY,
      from: 'documents',
      ...where({ workspace_id: scope.workspaceId }, 'withdrawn_at is null'),
      order: newestFirst('document_id'),
    };
    return readPage(this.db, scope, listing, query);
  }

  async find(scope: Scope, documentId: Id<'doc'>): Promise<DocumentView | undefined> {
    const [document] = await this.db.read<DocumentView>(
      scope,
      `select ${columnsOf(DocumentEntity, { without: ['workspaceId'] })} from documents
       where workspace_id = $1 and document_id = $2`,
      [scope.workspaceId, documentId],
    );
    return document;
  }
}
