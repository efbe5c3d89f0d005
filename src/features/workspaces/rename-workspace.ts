import { Injectable } from '@nestjs/common';
import { actorOf, type Caller } from '../../platform/auth/caller.js';
import { visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { workspaceView } from './workspace.js';
import type { WorkspaceBody, WorkspaceView } from './workspace.dto.js';
import { Workspaces } from './workspaces.repository.js';

/** Gives a workspace another name. Two workspaces may have the same: a rename must not reveal others. */
@Injectable()
export class RenameWorkspace {
  constructor(
    private readonly workspaces: Workspaces,
    private readonly receipts: Receipts,
  ) {}

  /** The name it has already changes nothing. */
  async execute(caller: Caller, body: WorkspaceBody): Promise<WorkspaceView> {
    const before = await this.workspaces.lock(caller.workspaceId);
    const name = visibleName(body.name);
    if (name === before.name) return workspaceView(before);
    this.workspaces.rename(caller.workspaceId, name);
    this.receipts.append({
      actor: actorOf(caller),
      action: 'workspace.renamed',
      entity: { type: 'workspace', id: caller.workspaceId },
      summary: `${caller.name} renamed the workspace ${before.name} to ${name}.`,
      details: { old: before.name, new: name },
    });
    return workspaceView({ ...before, name });
  }
}
