import { Injectable, type OnModuleInit } from '@nestjs/common';
import { inWords } from '../../platform/kernel/local-day.js';
import type { Scope } from '../../platform/database/unit-of-work.js';
import { cutText } from '../../platform/kernel/text.js';
import { type Block, oneLine } from '../mail/index.js';
import { type Incident, IncidentsReader } from './incidents.reader.js';
import {
  type Addressee,
  type DigestEntry,
  type Message,
  type Notice,
  type NoticeSource,
  NoticeSources,
} from './notice-source.js';

const MAX_TITLE = 100;
const MAX_TEXT = 500;

/**
 * What members are mailed about without a decision: to its author, that a directive failed before anything
 * of it was sent; to owner and admins, a kill and its end, which no choice of theirs silences.
 */
@Injectable()
export class IncidentNotices implements NoticeSource, OnModuleInit {
  readonly kinds = ['failure', 'kill'] as const;
  readonly setting = 'escalations';

  constructor(
    private readonly incidents: IncidentsReader,
    private readonly sources: NoticeSources,
  ) {}

  onModuleInit(): void {
    this.sources.register(this);
  }

  async current(scope: Scope, ids: readonly string[]): Promise<Map<string, Notice>> {
    const incidents = await this.incidents.read(scope, ids);
    return new Map(incidents.map((incident) => [incident.id, noticeOf(incident)]));
  }

  async message(to: Addressee, id: string): Promise<Message | undefined> {
    const [incident] = await this.incidents.read({ workspaceId: to.workspaceId, teamIds: 'all' }, [id]);
    if (!incident) return undefined;
    const title = titleOf(incident);
    return {
      subject: title,
      blocks: [{ kind: 'heading', text: title }, ...blocksOf(incident, to)],
      about: { title, directiveId: incident.text === null ? null : id },
    };
  }

  async entries(to: Addressee, ids: readonly string[]): Promise<Map<string, DigestEntry>> {
    const incidents = await this.incidents.read({ workspaceId: to.workspaceId, teamIds: 'all' }, ids);
    return new Map(
      incidents.map((incident) => [
        incident.id,
        { title: titleOf(incident), blocks: blocksOf(incident, to) },
      ]),
    );
  }
}

function noticeOf(incident: Incident): Notice {
  const { revision, teamId } = incident;
  if (incident.text === null)
    return { revision, teamId, role: 'admin', isUrgent: true, isImposed: true, notTo: [] };
  const { askedBy, priority } = incident;
  const onlyTo = askedBy === null ? [] : [askedBy];
  return { revision, teamId, role: 'viewer', isUrgent: priority === 'high', onlyTo, notTo: [] };
}

function titleOf(incident: Incident): string {
  if (incident.text !== null) return `Failed: ${cutText(incident.text.trim().split('\n', 1)[0]!, MAX_TITLE)}`;
  const { action, body } = incident;
  const { summary } = JSON.parse(body) as { summary: string };
  return `${action === 'guardian.killed' ? 'Stopped' : 'Running again'}: ${summary}`;
}

function blocksOf(incident: Incident, { workspaceName, zone, publicUrl }: Addressee): Block[] {
  const { id, at } = incident;
  const workspace = oneLine(workspaceName);
  if (incident.text !== null) {
    const { message, nextStep = 'If it is still wanted, have it drafted again.' } = incident.error;
    return [
      {
        kind: 'text',
        text: `No draft was made of what you handed in to ${workspace}. Nothing of it was sent.`,
      },
      { kind: 'quote', text: cutText(incident.text, MAX_TEXT) },
      {
        kind: 'facts',
        facts: [
          ['Why', message],
          ['Failed', inWords(at, zone)],
          ['Directive', id],
        ],
      },
      { kind: 'text', text: nextStep },
      {
        kind: 'reference',
        text: 'Read it, and have it drafted again:',
        url: `${publicUrl}/directives/${id}`,
      },
    ];
  }
  const when: Block = {
    kind: 'facts',
    facts: [
      ['Workspace', workspace],
      ['When', inWords(at, zone)],
    ],
  };
  if (incident.action === 'guardian.reverted') {
    const text = 'Halted work goes on, and approvals can be decided again.';
    return [when, { kind: 'text', text }];
  }
  return [
    when,
    {
      kind: 'warning',
      text: 'The kill switch halts all teams: nothing is drafted, approved or sent until an admin reverts it.',
    },
    { kind: 'reference', text: 'See what was halted, and revert it:', url: `${publicUrl}/guardian` },
  ];
}
