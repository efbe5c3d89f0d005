import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Statement } from '../../../platform/database/batch.js';
import type { Scope } from '../../../platform/database/unit-of-work.js';
import { type Undoable, UndoableWork } from '../../guardian/undoable-work.js';
import { WorkPacketsReader } from './work-packets.reader.js';

/** The work packets that a revert undoes. */
@Injectable()
export class UndoablePackets implements Undoable, OnModuleInit {
  constructor(
    private readonly undoableWork: UndoableWork,
    private readonly packets: WorkPacketsReader,
  ) {}

  onModuleInit(): void {
    this.undoableWork.register(this);
  }

  carriedOutStatement(workspaceId: string, since: { receiptSeq: number; limit: number }): Statement {
    return this.packets.carriedOutStatement(workspaceId, since);
  }

  titles(scope: Scope, workPacketIds: readonly string[]): Promise<Map<string, string>> {
    return this.packets.titles(scope, workPacketIds);
  }
}
