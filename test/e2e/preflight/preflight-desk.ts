import { Client } from '../../support/client.js';
import type { Answer, TestApp } from '../../support/test-app.js';

export const MAIL_TO_JANE = {
  type: 'email.send',
  params: { to: ['jane@acme.example'], subject: 'Your delivery', body: 'It arrives on Friday.' },
};
export const MEMO = { type: 'document.file', params: { title: 'Memo', body: 'It arrives on Friday.' } };

/** Asks from another address each time. */
export function preflight(by: Client, body: object): Promise<Answer> {
  return new Client(by.url, by.token).post('/guardian/preflight', body);
}

/** What a request leaves whoever asks, and whatever: when it came, and how often one may. */
const OF_REQUESTS: Record<string, readonly string[]> = {
  tokens: ['last_used_at'],
  members: ['last_seen_at'],
  sessions: ['last_seen_at'],
};
const COUNTED = ['tier_days', 'rate_windows'];
/** What the service writes when its time has come, whoever asks for anything. */
const BY_ITSELF = ['receipt_checkpoints', 'report_configs'];
/** Numbers the attempts at that, as at all work; what there is to do stands in a table. */
const OF_ATTEMPTS = 'work_attempts';

/** Every table with all that is in it, sequences and the counters of functions included. */
export async function everything(test: TestApp): Promise<Record<string, string>> {
  const tables = await test.rows<{ name: string }>(
    `select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'm') order by 1`,
  );
  const contents: Record<string, string> = {};
  for (const { name } of tables.filter((table) => ![...COUNTED, ...BY_ITSELF].includes(table.name))) {
    const row = ['to_jsonb(t)', ...(OF_REQUESTS[name] ?? []).map((column) => `'${column}'`)].join(' - ');
    const [found] = await test.rows<{ content: string }>(
      `select coalesce(string_agg(r, ',' order by r), '') as content from (select (${row})::text as r from "${name}" t) rows`,
    );
    contents[name] = found!.content;
  }
  const sequences = await test.rows<{ name: string; last: string }>(
    'select sequencename as name, last_value::text as last from pg_sequences where sequencename <> $1 order by 1',
    [OF_ATTEMPTS],
  );
  return { ...contents, sequences: JSON.stringify(sequences) };
}
