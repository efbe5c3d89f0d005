import { Inject, Injectable } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { cutText } from '../../platform/kernel/text.js';
import { withoutUnseen } from '../../platform/kernel/unseen.js';
import {
  BriefingReader,
  CAPOS,
  CAPO_RUNNER,
  type CapoRunner,
  type Draft,
  type Paid,
  PausedCapos,
  RunnerFailed,
  paidBefore,
} from '../capos/index.js';
import { nothingPrepared } from '../directives/index.js';
import { Guardians, isHalted } from '../guardian/index.js';
import { NO_COST } from '../terms/index.js';
import type { ReportEntity } from './report.entity.js';
import type { WrittenSection } from './report.js';

/** What came of asking a capo for a section. */
export interface Written extends Paid {
  section: WrittenSection;
  /** Of one that nobody waited for: what its capo turns out to have been paid for once it does end, if it ever does. */
  paidLater?: Promise<Paid>;
}

const LONGEST_BODY = 20_000;
const NOTHING: Paid = { engine: null, cost: NO_COST };

/**
 * Asks a capo for the text of a section. The capo gets what it gets for a directive of no team; of what it makes only
 * documents are used, and what else it proposes is not carried out: a section reports and does nothing.
 */
@Injectable()
export class SectionWriter {
  constructor(
    private readonly db: Db,
    private readonly guardians: Guardians,
    private readonly paused: PausedCapos,
    private readonly briefings: BriefingReader,
    @Inject(CAPO_RUNNER) private readonly runner: CapoRunner,
  ) {}

  /** How many sections of a workspace are written at once. */
  get perWorkspace(): number {
    return this.runner.perWorkspace;
  }

  /**
   * Never fails: what goes wrong stands in the section. Ends when a signal aborts, whatever the capo does then.
   *
   * @param stop aborts where the work is to stop, as at a kill
   * @param deadline aborts when the report waits no longer
   */
  async write(
    report: ReportEntity,
    section: WrittenSection,
    { stop, deadline }: { stop: AbortSignal; deadline: AbortSignal },
  ): Promise<Written> {
    const signal = AbortSignal.any([stop, deadline]);
    const scope: Scope = { workspaceId: report.workspaceId, teamIds: 'all' };
    const failed = (error: string, paid: Paid = NOTHING): Written => ({
      section: { ...section, status: 'failed', error },
      ...paid,
    });
    const cutOff = async (paid: Paid): Promise<Written> =>
      stop.aborted
        ? failed(await this.whyStopped(scope), paid)
        : { section: { ...section, status: 'late', error: LATE }, ...paid };
    try {
      if (signal.aborted) return await cutOff(NOTHING);
      const obstacle = await this.obstacle(scope, section);
      if (obstacle !== undefined) return failed(obstacle);
      const drafting = this.draft(report, section, signal);
      const draft = await untilAborted(signal, drafting);
      if (draft === 'aborted') return { ...(await cutOff(NOTHING)), paidLater: drafting.catch(paidBefore) };
      // A reader must see all of the section.
      const body = withoutUnseen(textOf(draft)).trim();
      const { engine, cost } = draft;
      if (body === '') return failed(whyNothing(draft), { engine, cost });
      return { section: { ...section, status: 'done', body: cutText(body, LONGEST_BODY) }, engine, cost };
    } catch (error) {
      if (!(error instanceof RunnerFailed)) throw error;
      return signal.aborted ? cutOff(paidBefore(error)) : failed(error.message, paidBefore(error));
    }
  }

  /** Why its capo may not work now, if it may not. */
  private async obstacle(scope: Scope, { capo }: WrittenSection): Promise<string | undefined> {
    const { mode } = await this.guardians.read(scope);
    if (isHalted(mode)) return 'The kill switch was engaged as the report was made, so no capo worked.';
    const { text, values } = this.paused.statement(scope.workspaceId);
    const paused = await this.db.read<{ capo: string }>(scope, text, values);
    return paused.some((one) => one.capo === capo)
      ? `${CAPOS[capo].name} was paused as the report was made.`
      : undefined;
  }

  /** A failed read must not lose the costs. */
  private async whyStopped(scope: Scope): Promise<string> {
    const { mode } = await this.guardians.read(scope).catch(() => ({ mode: null }));
    return mode !== null && isHalted(mode) ? KILLED : STOPPED;
  }

  private async draft(
    { workspaceId, date, zone, headline }: ReportEntity,
    { sectionId, directive, capo }: WrittenSection,
    signal: AbortSignal,
  ): Promise<Draft> {
    const briefing = await this.briefings.read(
      { workspaceId, teamIds: 'all' },
      {
        directiveId: sectionId,
        teamId: null,
        text: directive,
        capo,
        priority: 'medium',
        context: { report: { date, zone, headline } },
        deadline: null,
        feedback: [],
        createdBy: SYSTEM,
      },
    );
    return this.runner.run(briefing, { signal });
  }
}

/** Why a section is late. */
export const LATE = 'Its capo had not written it in time.';
const KILLED = 'The kill switch was engaged while its capo was writing it.';
const STOPPED = 'It was stopped before its capo had written it.';

/** A model may answer in its remarks; those of the built-in runner only say what it did not do. */
function textOf({ packets, remarks, engine }: Draft): string {
  const documents = packets.flatMap(({ type, params }) =>
    type === 'document.file' && typeof params['body'] === 'string' ? [params['body'].trim()] : [],
  );
  if (documents.length > 0) return documents.join('\n\n');
  return engine.model === null ? '' : remarks.trim();
}

function whyNothing(draft: Draft): string {
  return draft.engine.model === null && draft.packets.length === 0
    ? nothingPrepared(draft).message
    : 'Its capo wrote no text for it.';
}

async function untilAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | 'aborted'> {
  const { promise: aborted, resolve } = Promise.withResolvers<'aborted'>();
  const end = () => resolve('aborted');
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
