import { Injectable } from '@nestjs/common';
import { type Actor, actorOf, type Caller, type Tier } from '../../platform/auth/caller.js';
import { exclusiveMembership } from '../../platform/auth/membership.js';
import { Config } from '../../platform/config/config.js';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import {
  AlreadyExists,
  InvalidTransition,
  NotFound,
  ValidationFailed,
} from '../../platform/kernel/errors.js';
import { isId, newId } from '../../platform/kernel/ids.js';
import { foldedMailAddress } from '../../platform/kernel/mail-address.js';
import { nameKey, visibleName } from '../../platform/kernel/visible-name.js';
import { Receipts } from '../../platform/receipts/receipts.js';
import { type Inviter, Invites, type InviteView, IssueInvite, WithdrawInvites } from '../teams/index.js';
import { KnownZone, limitReached, Members, newWorkspace, WorkspaceEntity } from '../workspaces/index.js';
import { WorkspaceList } from './tenancy.repository.js';
import type { NewWorkspace, NewWorkspaceBody, OwnerBody } from './tenancy.dto.js';

/** The one page of an operator who keeps them apart by name; more is another service. */
const MAX_WORKSPACES = 1_000;

/** The workspaces of the service: an owner of the first one makes the others. */
@Injectable()
export class WorkspacesService {
  constructor(
    private readonly config: Config,
    private readonly db: Db,
    private readonly list: WorkspaceList,
    private readonly members: Members,
    private readonly knownZone: KnownZone,
    private readonly invites: Invites,
    private readonly issueInvite: IssueInvite,
    private readonly withdrawInvites: WithdrawInvites,
    private readonly clock: Clock,
    private readonly receipts: Receipts,
  ) {}

  /**
   * Makes a workspace with nobody in it but the invite of its owner, in one transaction with a receipt in either chain. Its
   * maker is no member and cannot read it later.
   * @throws Forbidden outside of the first workspace, AlreadyExists for a name that looks like another, LimitReached, RateLimited
   */
  async create(caller: Caller, body: NewWorkspaceBody): Promise<NewWorkspace> {
    await this.list.assertFirst(caller);
    await this.knownZone.require(body.timezone, 'timezone');
    const name = visibleName(body.name);
    const names = await this.list.lockNames();
    if (names.length >= MAX_WORKSPACES) throw limitReached('workspaces', MAX_WORKSPACES);
    if (names.some((one) => nameKey(one) === nameKey(name))) {
      throw new AlreadyExists({
        message: 'A workspace with this name, or one that looks like it, exists already.',
      });
    }
    const { timezone, currency } = body;
    const tier = this.tierOf(caller, body);
    const workspace = newWorkspace({
      workspaceId: newId('wks'),
      name,
      tier,
      createdAt: this.clock.now(),
      ...(timezone !== undefined && { timezone }),
      ...(currency !== undefined && { currency }),
    });
    const invite = await this.found(workspace, { ...actorOf(caller), type: 'admin' }, body);
    this.record(workspace, actorOf(caller), invite);
    const { workspaceId, createdAt } = workspace;
    return {
      workspace: { workspaceId, name, tier, state: 'invited', members: 0, createdAt, deleteAt: null },
      invite,
    };
  }

  /**
   * Invites the owner of a workspace once more, or somebody else: a mail did not arrive, or was not answered in time. Only while
   * nobody has accepted: then the workspace is its members' own.
   * @throws NotFound, InvalidTransition once it has a member, RateLimited
   */
  async inviteOwner(caller: Caller, workspaceId: string, body: OwnerBody): Promise<InviteView> {
    // To an owner of any other workspace than the first there are none.
    if (!isId('wks', workspaceId) || !(await this.list.has(workspaceId))) throw new NotFound();
    if (workspaceId === caller.workspaceId) throw hasMembers();
    const inviter: Inviter = { workspaceId, actor: { ...actorOf(caller), type: 'admin' } };
    return this.db.inWorkspace({ workspaceId, teamIds: 'all' }, async () => {
      // A concurrent acceptance either came first or finds the invite withdrawn.
      await this.db.unit.batch([exclusiveMembership(workspaceId)]);
      if ((await this.members.count(workspaceId)).members > 0) throw hasMembers();
      const open = await this.invites.lockAllPending(workspaceId);
      this.withdrawInvites.withdraw(inviter, open, 'the owner was invited again');
      return this.issueInvite.execute(inviter, null, {
        email: foldedMailAddress(body.ownerEmail),
        role: 'owner',
        name: body.ownerName,
      });
    });
  }

  /**
   * Where licences are issued, only a licence gives a tier; otherwise the maker of workspaces could give each the highest.
   * @throws ValidationFailed
   */
  private tierOf(caller: Caller, { tier }: NewWorkspaceBody): Tier {
    const { licencePublicKeys, bootstrapTier } = this.config;
    if (licencePublicKeys.length === 0) return tier ?? caller.tier;
    if (tier === undefined) return bootstrapTier;
    const message = 'tier must be left out, since the tier of a workspace comes from its licence here';
    throw new ValidationFailed({ details: [{ path: 'tier', rule: 'licensed', message }] });
  }

  private found(
    workspace: WorkspaceEntity,
    actor: Actor,
    { ownerEmail, ownerName }: NewWorkspaceBody,
  ): Promise<InviteView> {
    const { workspaceId } = workspace;
    return this.db.inWorkspace({ workspaceId, teamIds: 'all' }, async () => {
      this.db.insert(WorkspaceEntity, workspace);
      const owner = {
        email: foldedMailAddress(ownerEmail),
        role: 'owner' as const,
        name: ownerName,
      };
      const invite = await this.issueInvite.execute({ workspaceId, actor }, null, owner);
      this.record(workspace, actor, invite);
      return invite;
    });
  }

  /** In the chain of the workspace that the transaction is in. */
  private record({ workspaceId, name, tier }: WorkspaceEntity, actor: Actor, { inviteId }: InviteView): void {
    this.receipts.append({
      actor,
      action: 'workspace.created',
      entity: { type: 'workspace', id: workspaceId },
      summary: `${actor.name} created the workspace ${name} and invited its owner.`,
      details: { name, tier, inviteId },
    });
  }
}

function hasMembers(): Error {
  return new InvalidTransition({
    message: 'This workspace has members: its owners invite others themselves.',
  });
}
