import { newId } from '../../../src/platform/kernel/ids.js';
import { eventually } from '../../support/test-app.js';
import { leaveActionRequest } from '../action-requests/action-request-rows.js';
import { leaveQuestion } from '../approvals/question-rows.js';
import { leaveChecked } from '../connector-health/connector-rows.js';
import { Desk, DOCUMENT } from '../directives/desk.js';
import { EscalationDesk } from '../escalations/escalation-desk.js';
import { leaveNotification } from '../notifications/notification-rows.js';
import { leavePack } from '../packs/pack-rows.js';
import { PartnerDesk } from '../partner/partner-desk.js';
import { leaveReport, leaveReportMail, leaveSection } from '../reports/report-rows.js';
import { SCHEDULE } from '../schedules/schedule-desk.js';
import { SignalDesk } from '../records/signal-desk.js';
import { leaveTool } from '../tools/tool-rows.js';
import { leaveDelivered } from '../webhooks/webhook-rows.js';
import type { TenancyDesk, Tenant } from './tenancy-desk.js';

/** Secrets that stand in no export, each in the column that it would leak from. */
export const SECRETS = {
  password: 'argon2-of-the-owner',
  destination: 'sealed-secret-of-a-destination',
  destinationUrl: 'https://receiver.example/token-in-the-path',
  former: 'sealed-former-secret',
  licence: 'key-of-a-licence',
  secondFactor: 'sealed-secret-of-a-second-factor',
  recoveryCode: 'hash-of-a-recovery-code',
} as const;

/** A workspace with a row in every table. */
export async function fullWorkspace(desk: TenancyDesk): Promise<Tenant> {
  const { test } = desk;
  const tenant = await desk.tenant();
  const { workspaceId, owner } = tenant;
  const rows = (sql: string, ...values: unknown[]) => test.rows(sql, [workspaceId, ...values]);
  const member = new Desk(test, owner.token);
  const teamId = await test.createTeam(workspaceId, 'Marketing');
  await test.createMember(workspaceId, 'operator', [teamId]);
  await member.client.post('/standing-orders', {
    name: 'Documents',
    effect: 'allow',
    match: { actionTypes: ['document.file'] },
    limits: { maxPerDay: 100 },
  });
  await rows(
    `insert into suggestion_decisions (workspace_id, suggestion_id, decision, decided_by, decided_at)
     values ($1, $2, 'dismissed', '{}', now())`,
    newId('sug'),
  );
  const body = { directive: DOCUMENT, capo: 'capo_ops', requiresApproval: false };
  const { directiveId } = (await member.client.post('/directives', body)).body;
  await member.until(directiveId, 'executed');
  await member.handInReady();
  await new SignalDesk(test).raise({ teamId }, workspaceId);
  await new EscalationDesk(test, workspaceId).open({ teamId });
  await member.client.post('/revenue-events', { amount: 12.34, currency: 'EUR', source: 'shop' });
  await (await PartnerDesk.of(test, workspaceId)).report();
  const { destinationId } = await leaveDelivered(test, workspaceId);
  await test.rows(
    `update webhook_destinations set sealed_secret = $2, url = $3,
       former_secrets = jsonb_build_array(jsonb_build_object('sealed', $4::text, 'until', 0)) where destination_id = $1`,
    [destinationId, SECRETS.destination, SECRETS.destinationUrl, SECRETS.former],
  );
  await member.client.post('/members', { email: `${newId('usr')}@example.com`, role: 'viewer' });
  await rows(
    'update users set password_hash = $2 where user_id in (select user_id from members where workspace_id = $1)',
    SECRETS.password,
  );
  const skill = { name: 'A skill', targetEntityType: 'skill', targetEntityId: 'quote', definition: {} };
  await member.client.post('/evals/run', skill);
  await member.client.post('/consigliere/chat', { message: 'What waits for me?' });
  const { reportId } = (await member.client.get('/family/report')).body;
  await member.client.post('/family/comment', { reportId, body: 'The carrier was late.' });
  await member.kill();
  await member.revert();
  await undone(member, body);
  await member.client.post('/api/local/hydrate', { deviceId: newId('req') });
  await leavePack(test, workspaceId);
  await leaveTool(member.client);
  await leaveActionRequest(member.client);
  await leaveQuestion(member.client);
  await leaveNotification(test.rows, workspaceId);
  await leaveReportMail(test.rows, workspaceId, await leaveReport(test.rows, workspaceId));
  await leaveSection(test.rows, workspaceId);
  await member.client.post('/schedules', { ...SCHEDULE, rule: { ...SCHEDULE.rule, every: 'month', on: 31 } });
  await leaveChecked(test, workspaceId);
  await leaveByHand(rows);
  await leaveAccount(rows);
  await desk.export(tenant);
  return tenant;
}

/** Something that was carried out and undone. */
async function undone(member: Desk, body: object): Promise<void> {
  const { directiveId } = (await member.client.post('/directives', body)).body;
  await member.until(directiveId, 'executed');
  await member.client.post('/guardian/revert', { mode: 'compensate' });
  await eventually(
    async () => (await member.client.get('/guardian')).body,
    ({ mode }) => mode === 'guardrailed',
  );
}

/** Rows that no route leaves at once. */
async function leaveByHand(rows: (sql: string, ...values: unknown[]) => Promise<unknown>): Promise<void> {
  await rows(
    `insert into outside_attempts (workspace_id, work_packet_id, attempt, event)
     values ($1, 'pkt_' || substr($1, 5), 1, 'begun') on conflict do nothing`,
  );
  await rows(`insert into paused_capos values ($1, 'capo_marketing', '{}', now())`);
  await rows(
    `insert into chat_turns select workspace_id, member_id, $2, now() from members where workspace_id = $1 limit 1`,
    newId('req'),
  );
  await rows(`insert into tier_days values ($1, current_date, 1) on conflict do nothing`);
  await rows(
    `insert into model_usage (workspace_id, day, amount, tokens) values ($1, '2026-02-18', 1, 1000)`,
  );
  await rows(
    `insert into model_charges (workspace_id, receipt_id, amount, currency, tokens_in, tokens_out, charged_at)
     values ($1, $2, 0.01, 'USD', 900, 120, now())`,
    newId('rcp'),
  );
  await rows(
    `insert into tallies (workspace_id, team_id, kind, key, bucket, n, amount) values ($1, '', 'packets', 'none', '-infinity', 0, 0)`,
  );
  await rows(
    `insert into tally_notes values ($1, pg_current_xact_id(), '', array[('packets', 'none', '-infinity', 0, 0)::app.counted_as])`,
  );
  await rows(
    `insert into work_items (kind, id, workspace_id, queue, due_at) values ('test.wait', $2, $1, $1, 'infinity')`,
    newId('req'),
  );
  await rows(
    `insert into work_breakers (kind, queue, workspace_id, opens_at, retry_every)
     values ('test.wait', $1, $1, 'infinity', '1 hour')`,
  );
  await rows(
    `insert into licences (workspace_id, licence_id, number, licence_key, tier, entitlements, issued_at, expires_at,
       installed_at, installed_by, tier_before, told_status)
     values ($1, $2, 1, $3, 'enterprise', '{}', now(), now() + interval '1 year', now(), '{}', 'free', 'active')`,
    newId('lic'),
    SECRETS.licence,
  );
  await rows(
    `insert into account_acts values ($2, $1, 'mem', 'password.changed', null, '{}', now())`,
    newId('msg'),
  );
  await rows(
    `insert into idempotency_keys (workspace_id, member_id, key, fingerprint, status, content_type, headers, body)
     values ($1, 'mem', 'key', 'x', 200, 'application/json', '{}', '{}')`,
  );
}

/** What is kept about the owner's account, which belongs to no workspace. */
async function leaveAccount(rows: (sql: string, ...values: unknown[]) => Promise<unknown>): Promise<void> {
  const owner = `(select user_id from members where workspace_id = $1 and role = 'owner')`;
  await rows(
    `insert into second_factors (user_id, sealed_secret, begun_at) values (${owner}, $2, now())`,
    SECRETS.secondFactor,
  );
  await rows(`insert into recovery_codes values (${owner}, $2)`, SECRETS.recoveryCode);
  await rows(
    `insert into account_mails values ($2, ${owner}, 'password.changed', '{}', now())`,
    newId('msg'),
  );
  await rows(
    `insert into user_identities values ('https://issuer.example', $2, ${owner}, now())`,
    newId('usr'),
  );
}
