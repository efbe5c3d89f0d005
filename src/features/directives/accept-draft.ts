import { Injectable } from '@nestjs/common';
import { Db } from '../../platform/database/db.js';
import { Clock } from '../../platform/kernel/clock.js';
import type { Fault } from '../../platform/kernel/define-error.js';
import { newId } from '../../platform/kernel/ids.js';
import { cutText } from '../../platform/kernel/text.js';
import { scopeOfWork, type WorkItem } from '../../platform/work/work-item.js';
import { Work } from '../../platform/work/work.js';
import { ReadyApprovals } from '../approvals/index.js';
import {
  type Draft,
  type DraftPacket,
  engineOf,
  isActionType,
  OutsideTargetsReader,
  parametersOf,
  validateAction,
} from '../capos/index.js';
import { ChargeUnused } from './charge-unused.js';
import { DecideDraft } from './decide-draft.js';
import type { DirectiveEntity } from './directive.entity.js';
import { type BeginningDraft, DueDrafts } from './draft-attempts.js';
import type { WorkPacketEntity } from './packets/work-packet.entity.js';
import { newPacket } from './packets/work-packet.js';

/** A directive that may still be drafted, locked. */
export type FoundDirective = BeginningDraft & { directive: DirectiveEntity };

/** What was drafted before anything was recorded of it. */
interface UnbegunDraft {
  /** The directive as it was drafted from. */
  of: Pick<
    DirectiveEntity,
    'workspaceId' | 'directiveId' | 'teamId' | 'capo' | 'priority' | 'requiresApproval'
  >;
  draft: Draft;
  /** Whether its capo may begin now, with what it has drafted from. */
  mayBegin: (found: FoundDirective) => boolean;
  /** Records what comes before the draft. */
  begin: (found: FoundDirective) => void;
}

/** What has changed since it was drafted is to be seen to first. */
class Overtaken extends Error {}

/**
 * Accepts what a capo made: its work packets are checked against the registry, each decided by the guardian; then the draft waits for a
 * person, is released because the standing orders allow it, or ends because one of them forbids it.
 */
@Injectable()
export class AcceptDraft {
  constructor(
    private readonly db: Db,
    private readonly work: Work,
    private readonly drafts: DueDrafts,
    private readonly decideDraft: DecideDraft,
    private readonly targets: OutsideTargetsReader,
    private readonly clock: Clock,
    private readonly chargeUnused: ChargeUnused,
    private readonly readyApprovals: ReadyApprovals,
  ) {}

  async execute(item: WorkItem, draft: Draft): Promise<void> {
    await this.chargeUnused.after(item, 'draft', draft, () => this.accept(item, draft));
  }

  /**
   * Records in one transaction that the capo began, and accepts what it has made meanwhile. Answers whether it did: nothing is
   * recorded where the directive or what it depends on is another by now.
   */
  async together(item: WorkItem, { of, draft, mayBegin, begin }: UnbegunDraft): Promise<boolean> {
    const packets = await this.check(of, draft);
    try {
      await this.db.transaction(scopeOfWork(item), async () => {
        const [{ directive, ...locked }, facts, tell] = await Promise.all([
          this.drafts.lockToBegin(item),
          typeof packets === 'string' ? undefined : this.decideDraft.lock(packets, of),
          of.requiresApproval ? this.readyApprovals.lookUp(of.workspaceId, of.teamId) : undefined,
        ]);
        if (!directive || !mayBegin({ ...locked, directive })) throw new Overtaken();
        // Behind the locks: who parks work has locked the guardian before.
        this.work.complete(item);
        begin({ ...locked, directive });
        const checked = { ...locked, directive, draft };
        if (typeof packets === 'string') this.decideDraft.invalid(checked, packets);
        else await this.decideDraft.execute({ ...checked, packets, facts, tell });
      });
      return true;
    } catch (error) {
      if (error instanceof Overtaken) return false;
      throw error;
    }
  }

  /** Answers whether the directive was charged for the draft; it is not where nobody wants a draft of it any more. */
  private async accept(item: WorkItem, draft: Draft): Promise<boolean> {
    return this.db.transaction(scopeOfWork(item), async () => {
      const { directive, ...locked } = await this.drafts.lock(item);
      this.work.complete(item);
      if (!directive) return false;
      const packets = await this.check(directive, draft);
      if (typeof packets === 'string') {
        this.decideDraft.invalid({ ...locked, directive, draft }, packets);
      } else {
        await this.decideDraft.execute({ ...locked, directive, draft, packets });
      }
      return true;
    });
  }

  /** The work packets of a draft, or why one is not one that this capo can make: the registry is trusted, the draft is not. */
  private async check(
    directive: Pick<DirectiveEntity, 'workspaceId' | 'directiveId' | 'teamId' | 'capo'>,
    draft: Draft,
  ): Promise<WorkPacketEntity[] | string> {
    const capo = directive.capo!;
    const { workspaceId, directiveId, teamId } = directive;
    const createdAt = this.clock.now();
    const targets = await this.targets.for(
      { workspaceId, teamIds: 'all' },
      draft.packets.map(({ type }) => type),
    );
    const packets: WorkPacketEntity[] = [];
    for (const [position, proposed] of draft.packets.entries()) {
      const lacking = proposed.needsInput.map(({ path }) => path);
      const validated = validateAction(engineOf(capo), proposed.type, proposed.params, { lacking, targets });
      if (!validated.ok) return invalid(proposed.type, validated.faults);
      if (!canBeSupplied(proposed)) {
        return `The capo asked for input that an action of the type ${proposed.type} has no parameter for.`;
      }
      const origin = {
        workPacketId: newId('pkt'),
        workspaceId,
        teamId,
        directiveId,
        position,
        capo,
        createdAt,
      };
      packets.push(newPacket(proposed, validated, origin));
    }
    return packets;
  }
}

/** What a draft lacks is a parameter of its action: nothing else could ever be supplied. */
function canBeSupplied({ type, needsInput }: DraftPacket): boolean {
  const known = isActionType(type) ? parametersOf(type) : [];
  return needsInput.every(({ path }) => known.some((name) => path === name || path.startsWith(`${name}.`)));
}

/** Names the parameters and says nothing of what a model wrote in them. */
function invalid(type: string, faults: readonly Fault[]): string {
  const action = `The capo proposed an action of the type ${cutText(type, 100)}`;
  if (faults.some(({ path }) => path === 'type')) return `${action}, which is outside its scope.`;
  const paths = [...new Set(faults.map(({ path }) => cutText(path, 100)))].slice(0, 5);
  return `${action} with invalid parameters: ${paths.join(', ')}.`;
}
