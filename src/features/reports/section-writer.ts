import { Inject, Injectable } from '@nestjs/common';
import { SYSTEM } from '../../platform/auth/caller.js';
import { Db } from '../../platform/database/db.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { cutText } from '../../platform/kernel/text.js';
import { type CapoRunner, type Draft, RunnerFailed } from '../capos/briefing.js';
import { BriefingReader } from '../capos/briefing.reader.js';
import { CAPOS } from '../capos/capo.js';
import { CAPO_RUNNER } from '../capos/capos.module.js';
import { type Paid, paidBefore } from '../capos/paid.js';
import { PausedCapos } from '../capos/paused-capos.repository.js';
import { isHalted } from '../guardian/guardian.js';
import { Guardians } from '../guardian/guardians.repository.js';
import { NO_COST } from '../terms/terms.js';
import type { ReportEntity } from './report.entity.js';
import type { WrittenSection } from './report.js';

/** What came of asking a capo for a section. */
export interface Written extends Paid {
  section: WrittenSection;
  /** Of one that is late: what its capo turns out to have been paid for once it does end, if it ever does. */
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

  /** Never fails: what goes wrong stands in the section. Ends when the signal aborts, whatever the capo does then. */
  async write(report: ReportEntity, section: WrittenSection, signal: AbortSignal): Promise<Written> {
    const failed = (error: string, paid: Paid = NOTHING): Written => ({
      section: { ...section, status: 'failed', error },
      ...paid,
    });
    const late = (paid: Paid): Written => ({ section: { ...section, status: 'late', error: LATE }, ...paid });
    try {
      const holdup = await this.holdup({ workspaceId: report.workspaceId, teamIds: 'all' }, section);
      if (holdup !== undefined) return failed(holdup);
      const drafting = this.draft(report, section, signal);
      const draft = await endingWith(signal, drafting);
      if (draft === 'late') return { ...late(NOTHING), paidLater: drafting.catch(paidBefore) };
      const body = textOf(draft);
      const { engine, cost } = draft;
      if (body === '') return failed('Its capo wrote no text for it.', { engine, cost });
      return { section: { ...section, status: 'done', body: cutText(body, LONGEST_BODY) }, engine, cost };
    } catch (error) {
      if (!(error instanceof RunnerFailed)) throw error;
      return signal.aborted ? late(paidBefore(error)) : failed(error.message, paidBefore(error));
    }
  }

  /** Why its capo may not work now, if it may not. */
  private async holdup(scope: Scope, { capo }: WrittenSection): Promise<string | undefined> {
    const { mode } = await this.guardians.read(scope);
    if (isHalted(mode)) return 'The kill switch was engaged as the report was made, so no capo worked.';
    const { text, values } = this.paused.statement(scope.workspaceId);
    const paused = await this.db.read<{ capo: string }>(scope, text, values);
    return paused.some((one) => one.capo === capo)
      ? `${CAPOS[capo].name} was paused as the report was made.`
      : undefined;
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

function textOf({ packets, remarks }: Draft): string {
  const documents = packets.flatMap(({ type, params }) =>
    type === 'document.file' && typeof params['body'] === 'string' ? [params['body'].trim()] : [],
  );
  return documents.length > 0 ? documents.join('\n\n') : remarks.trim();
}

async function endingWith<T>(signal: AbortSignal, work: Promise<T>): Promise<T | 'late'> {
  const { promise: late, resolve } = Promise.withResolvers<'late'>();
  const end = () => resolve('late');
  if (signal.aborted) end();
  signal.addEventListener('abort', end, { once: true });
  try {
    return await Promise.race([work, late]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}
