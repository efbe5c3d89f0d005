import { PickType } from '@nestjs/swagger';
import { IsBoolean, IsIn, IsInt, IsOptional, IsString, Matches, Min } from 'class-validator';
import { ActorView } from '../../platform/auth/actor.dto.js';
import { PageFacts } from '../../platform/kernel/pages.dto.js';
import { MaxLength, MinLength } from '../../platform/kernel/text-length.js';
import { REVERT_MODES, type RevertMode, type StepStatus } from './guardian.entity.js';

/** The parameter of the paths, as it is documented. */
export const REVERT_PARAM = {
  name: 'revertId',
  description: 'The id of the revert.',
  example: 'rvt_01khqxmfv0f3g05ngebp6trccz',
};

/** Body of `POST /guardian/revert`; it may be empty. */
export class RevertBody {
  /** Why, for the receipt; 1 to 1,000 characters. @example 'The price list is mended.' */
  @IsOptional()
  @IsString()
  @MinLength(1)
  @MaxLength(1000)
  reason?: string;

  /**
   * `resume` goes back to the mode before the kill and lets the halted work go on. `restore` also puts standing orders,
   * settings and mode back to a checkpoint; it needs no kill. `compensate` undoes what was carried out since a checkpoint, the
   * newest first, and then does what `resume` does; without a kill it engages the kill switch first. Left out: `resume`.
   * @example 'compensate'
   */
  @IsOptional()
  @IsIn(REVERT_MODES)
  mode?: RevertMode;

  /**
   * The checkpoint to go back to, with `restore` and `compensate`. Left out: the last one before the kill, apart from the one
   * that the kill took itself.
   * @example 'chk_01khqx3v2gs0a0k4y6t1r8m5cd'
   */
  @IsOptional()
  @Matches(/^chk_[0-9a-z]{26}$/, { message: '$property must be the id of a checkpoint' })
  checkpointId?: string;

  /** True: only shows what would be done, and changes nothing. @example false */
  @IsOptional()
  @IsBoolean()
  dryRun?: boolean;

  /**
   * The guardian's `epoch` as you have read it: after a kill since then, nothing is done (409), and the details have the epoch now.
   * Left out: whatever kill there is by now is reverted.
   * @example 3
   */
  @IsOptional()
  @IsInt()
  @Min(0)
  epoch?: number;
}

export class RevertStep {
  /**
   * The work packet to undo; with `resume`, the one that goes on.
   * @example 'pkt_01khqw6sb0xg7v9zhwnqcrxds8'
   */
  workPacketId!: string;
  /**
   * The title of the work packet; null when you may not see it.
   * @example 'Email jane@acme.example: Your order'
   */
  title!: string | null;
  /** read_only, reversible, externally_reversible or irreversible @example 'reversible' */
  reversibility!: string;
  /**
   * The action that undoes it; null: there is none.
   * @example { "type": "document.withdraw", "params": { "documentId": "doc_01khqw9gmrq2wae1nqn3xx0x6d" } }
   */
  compensation!: object | null;
  /**
   * planned, done, failed (a person has to look; of a dry run: it would fail as things stand), not_possible (nothing takes it
   * back) or skipped (there was nothing to undo, or the revert was stopped)
   * @example 'planned'
   */
  status!: StepStatus;
  /** Why it was not undone, or would not be; null where there is nothing to say. */
  reason!: string | null;
}

/** A version of a standing order, and how it stood. */
export class RestoredState {
  /** The number of the version. @example 3 */
  version!: number;
  /** draft, shadow, active, paused or archived @example 'active' */
  status!: string;
}

/** A standing order that was not as it was at the checkpoint. */
export class RestoredOrderView {
  /** The id of the standing order. @example 'so_01kerr2kg0xaen9f9sdsg8py4z' */
  standingOrderId!: string;
  /** The name of the standing order. @example 'Delivery mail to Acme' */
  name!: string;
  /**
   * restored: it is in force as it was, in a new version if it has changed since; paused: it came into force since; skipped: it
   * stays as it is
   * @example 'restored'
   */
  outcome!: 'restored' | 'paused' | 'skipped';
  /** How it stood before. */
  from!: RestoredState;
  /** How it stands now; null: as before. @example { "version": 4, "status": "active" } */
  to!: RestoredState | null;
  /** Why it stays as it is; null unless it was skipped. */
  reason!: string | null;
}

/** What `restore` put back. */
export class RestoredView {
  /** The mode of the guardian now. @example 'guardrailed' */
  mode!: string;
  /** The standing orders that were not as they were at the checkpoint, at most 1,000; each has a receipt of its own. */
  orders!: RestoredOrderView[];
  /** How many standing orders were not as they were. @example 1 */
  ordersTotal!: number;
  /** The settings that were not as they were at the checkpoint. @example ['presence'] */
  settings!: string[];
  /** Settings that stay as they are, since only an owner changes them. @example [] */
  settingsKept!: string[];
}

/** How many steps there are in each status. */
export class StepCountsView {
  /** Still to be undone. @example 12 */
  planned!: number;
  /** Undone. @example 30 */
  done!: number;
  /** Not undone, or not known to be; a person has to look. @example 0 */
  failed!: number;
  /** Nothing takes them back. @example 2 */
  not_possible!: number;
  /** There was nothing to undo, or the revert was stopped before. @example 0 */
  skipped!: number;
}

/** One step of a revert with its outcome. */
export class RevertStepView extends RevertStep {
  /** Its place; 1 is the newest work packet, and the first to be undone. @example 1 */
  position!: number;
  /**
   * What undoing it answered; null until then.
   * @example { "documentId": "doc_01khqw9gmrq2wae1nqn3xx0x6d" }
   */
  result!: object | null;
  /** How often it was tried. @example 1 */
  attempts!: number;
  /** When it ended, Unix milliseconds; null: not yet, or it was never tried. */
  endedAt!: number | null;
  /** The receipt of its end; null where there is none. */
  receiptId!: string | null;
}

export class RevertStepPage extends PageFacts {
  /** The steps of this page, the newest work packet first. */
  items!: RevertStepView[];
}

/** A revert and how far it has come. */
export class RevertView {
  /** The id of the revert. @example 'rvt_01khqxmfv0f3g05ngebp6trccz' */
  revertId!: string;
  /** How it reverts. @example 'compensate' */
  mode!: RevertMode;
  /**
   * running; stopped: a kill stopped it, and it goes on when somebody reverts with `compensate` again; done
   * @example 'running'
   */
  status!: 'running' | 'stopped' | 'done';
  /** Why; null: nothing was said. */
  reason!: string | null;
  /** The checkpoint that it goes back to; null with `resume`. */
  checkpointId!: string | null;
  /** Who asked for it. */
  createdBy!: ActorView;
  /** When it began, Unix milliseconds. @example 1771402900000 */
  createdAt!: number;
  /** When it ended, Unix milliseconds; null: it has not. */
  endedAt!: number | null;
  /** The receipt of its beginning; null for one of an older version. */
  receiptId!: string | null;
  /** How many work packets are undone, and how many are not. */
  counts!: StepCountsView;
  /** What is undone; empty unless the mode is `compensate`. */
  steps!: RevertStepPage;
}

export class RevertAnswer extends PickType(RevertView, ['mode', 'checkpointId']) {
  /** The id of the revert; null after a dry run. */
  revertId!: string | null;
  /**
   * running: work packets are being undone, and the guardian is `recovering`; done: it is over; planned: it was only a dry run
   * @example 'running'
   */
  status!: 'running' | 'done' | 'planned';
  /**
   * What is undone, the newest work packet first, or with `resume` what goes on; at most 1,000 lines. The others and what
   * becomes of them: `GET /guardian/reverts/{revertId}`.
   */
  plan!: RevertStep[];
  /** How many lines the plan has in all. @example 1 */
  planTotal!: number;
  /** What was put back; null unless the mode is `restore`. */
  restored!: RestoredView | null;
  /** The receipt of the revert; null after a dry run. */
  receiptId!: string | null;
}
