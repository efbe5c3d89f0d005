import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';
import { newId } from '../../src/platform/kernel/ids.js';
import { leaveActionRequest } from '../e2e/action-requests/action-request-rows.js';
import { leaveQuestion, PLAN } from '../e2e/approvals/question-rows.js';
import { leaveChecked } from '../e2e/connector-health/connector-rows.js';
import { leaveDecided } from '../e2e/standing-orders/decided-approvals.js';
import { rotateSecret } from '../e2e/partner/partner-desk.js';
import type { Client } from '../support/client.js';
import { manifestOf, newPublisher, signedPack } from '../support/skill-packs.js';
import { eventually } from '../support/test-app.js';
import { operationOf } from './operations.js';
import { ALLOW_MEMOS, MAIL, MEMO, PUBLISHER, type Walk } from './walk.js';

const ALLOW_MAIL = { name: 'Mail to Acme', effect: 'allow', match: { actionTypes: ['email.send'] } };

type Step = (walk: Walk) => Promise<void>;

/** A list or a record without an id, of a workspace with everything in it. */
const reading =
  (...paths: [string, ...string[]]): Step =>
  async (walk) => {
    for (const path of paths) await walk.owner.get(path);
    await walk.stranger.get(paths[0]);
  };

/** A probe has no refusal but of a query that no route takes. */
const probing =
  (path: string): Step =>
  async (walk) => {
    await walk.probe(path);
    await walk.probe(`${path}?constructor=1`);
  };

const SIMPLE: Record<string, Step> = {
  'GET /health/live': probing('/health/live'),
  'GET /health/ready': probing('/health/ready'),
  'GET /metrics': probing('/metrics'),
  'GET /.well-known/jwks.json': probing('/.well-known/jwks.json'),
  'GET /api/admin/oidc': probing('/api/admin/oidc'),
  'GET /api/pro/profile': reading('/profile'),
  'GET /api/pro/bootstrap': reading('/bootstrap'),
  'GET /api/pro/context': reading('/context'),
  'GET /api/pro/metrics': reading('/api/pro/metrics'),
  'GET /api/pro/connectors': reading('/connectors', '/connectors?limit=2&offset=1'),
  'GET /api/pro/agents': reading('/agents'),
  'GET /api/pro/engines': reading('/engines'),
  'GET /api/pro/directives': reading(
    '/directives',
    '/directives?status=executed&capo=capo_ops&limit=5&offset=0',
  ),
  'GET /api/pro/schedules': reading('/schedules', '/schedules?status=active&limit=5&offset=0'),
  'GET /api/pro/approvals': reading(
    '/approvals',
    '/approvals?status=approved&urgent=false&limit=5',
    '/approvals?group=capo_ops%20email.send%20acme.example%20high',
  ),
  'GET /api/pro/work-packets': reading('/work-packets', '/work-packets?status=executed&offset=1'),
  'GET /api/pro/documents': reading('/documents', '/documents?limit=1'),
  'GET /api/pro/signals': reading('/signals', '/signals?status=acknowledged&type=agent&limit=1'),
  'GET /api/pro/escalations': reading(
    '/escalations',
    '/escalations?status=dismissed&kind=packet_failed&limit=5',
  ),
  'GET /api/pro/revenue-events': reading('/revenue-events', '/revenue-events?currency=EUR&since=1&limit=1'),
  'GET /api/pro/standing-orders': reading('/standing-orders', '/standing-orders?status=draft'),
  'GET /api/pro/guardian': reading('/guardian'),
  'GET /api/pro/feed': reading('/feed', '/feed?limit=2&before=5'),
  'GET /api/pro/audit-feed': reading(
    '/audit-feed',
    '/audit-feed?action=approval.*&limit=2',
    '/audit-feed?format=jsonl&limit=2',
    '/audit-feed?format=csv&limit=2',
  ),
  'GET /api/pro/audit-feed/sent': reading('/audit-feed/sent', '/audit-feed/sent?limit=1'),
  'GET /api/pro/audit-feed/keys': reading('/audit-feed/keys'),
  'GET /api/pro/audit-feed/head': reading('/audit-feed/head'),
  'GET /api/pro/partner/avatar': reading('/partner/avatar'),
  'GET /api/pro/partner/intelligence': reading('/partner/intelligence'),
  'GET /api/pro/settings': reading('/settings'),
  'GET /api/pro/setup': reading('/setup'),
  'GET /api/pro/profile/notifications': reading('/profile/notifications'),
  'GET /api/pro/tokens': reading('/tokens', '/tokens?limit=1&offset=0'),
};

/** Steps that read a workspace with everything in it share one. */
export const READINGS = new Set(Object.keys(SIMPLE));

const SCHEDULE = {
  name: 'Monday memo',
  directive: { text: MEMO, capo: 'capo_ops' },
  rule: { every: 'week', on: 'mon', at: '09:00' },
};
const scheduled = async (walk: Walk): Promise<string> =>
  (await walk.direct.post('/schedules', SCHEDULE)).body.scheduleId;

const DIRECTIVES: Record<string, Step> = {
  'POST /api/pro/directive': async (walk) => {
    await walk.owner.post('/directive', { text: MAIL });
    const key = { 'Idempotency-Key': 'walk-1' };
    await walk.owner.post('/directive', { text: MAIL, priority: 'high', context: { order: 17 } }, key);
    await walk.owner.post('/directive', { text: MEMO }, key);
    await (await walk.viewer()).post('/directive', { text: MAIL });
  },
  'POST /api/pro/directives': async (walk) => {
    const deadline = new Date(Date.now() + 86_400_000).toISOString();
    const body = { directive: MAIL, capo: 'capo_ops' };
    await walk.owner.post('/directives', body);
    await walk.owner.post('/directives', { ...body, deadline, requiresApproval: false, priority: 'low' });
    await walk.owner.post('/directives', { ...body, teamId: newId('team') });
  },
  'GET /api/pro/directives/{directiveId}': async (walk) => {
    await walk.owner.get(`/directives/${await walk.executed()}`);
    const { directiveId } = (await walk.direct.post('/directive', { text: MAIL })).body;
    await walk.owner.get(`/directives/${directiveId}`);
    await walk.owner.get(`/directives/${newId('dir')}`);
  },
  'POST /api/pro/directives/{directiveId}/cancel': async (walk) => {
    const { directiveId } = await walk.ready();
    await walk.owner.post(`/directives/${directiveId}/cancel`);
    await walk.owner.post(`/directives/${await walk.executed()}/cancel`);
  },
  'POST /api/pro/directives/{directiveId}/retry': async (walk) => {
    await walk.order({ name: 'No memos', effect: 'deny', match: { actionTypes: ['document.file'] } });
    const { directiveId } = (await walk.direct.post('/directive', { text: MEMO, capo: 'capo_ops' })).body;
    await eventually(
      async () => (await walk.direct.get(`/directives/${directiveId}`)).body.status,
      (status) => status === 'failed',
    );
    await (await walk.viewer()).post(`/directives/${directiveId}/retry`);
    await walk.owner.post(`/directives/${directiveId}/retry`);
    await walk.owner.post(`/directives/${await walk.executed()}/retry`);
    await walk.owner.post(`/directives/${newId('dir')}/retry`);
  },
  'POST /api/pro/schedules': async (walk) => {
    await walk.owner.post('/schedules', SCHEDULE);
    const rule = { every: 'month', on: 31, at: '02:30', timezone: 'Europe/Vienna' };
    const directive = { text: MEMO, priority: 'high', requiresApproval: false, context: { order: 17 } };
    await walk.owner.post('/schedules', { name: 'Memos', directive, rule, missed: 'skip' });
    await walk.owner.post('/schedules', { ...SCHEDULE, teamId: newId('team') });
    await walk.owner.post('/schedules', { ...SCHEDULE, rule: { every: 'week', at: '24:00' } });
    await (await walk.viewer()).post('/schedules', SCHEDULE);
  },
  'GET /api/pro/schedules/{scheduleId}': async (walk) => {
    await walk.owner.get(`/schedules/${await scheduled(walk)}`);
    await walk.owner.get(`/schedules/${newId('sch')}`);
  },
  'PATCH /api/pro/schedules/{scheduleId}': async (walk) => {
    const path = `/schedules/${await scheduled(walk)}`;
    await walk.owner.send('PATCH', path, { name: 'Figures', status: 'paused' });
    await walk.owner.send('PATCH', path, { rule: { every: 'week', at: '09:00' } });
    await (await walk.viewer()).send('PATCH', path, { name: 'Mine' });
    await walk.owner.send('PATCH', `/schedules/${newId('sch')}`, { name: 'Nothing' });
  },
  'DELETE /api/pro/schedules/{scheduleId}': async (walk) => {
    const path = `/schedules/${await scheduled(walk)}`;
    await (await walk.viewer()).delete(path);
    await walk.owner.delete(path);
    await walk.owner.delete(path);
  },
  'POST /api/pro/schedules/{scheduleId}/run': async (walk) => {
    const path = `/schedules/${await scheduled(walk)}/run`;
    await walk.owner.post(path);
    await (await walk.viewer()).post(path);
    await walk.owner.post(`/schedules/${newId('sch')}/run`);
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.post(path);
  },
  'GET /api/pro/work-packets/{id}': async (walk) => {
    const directiveId = await walk.executed();
    const { items } = (await walk.direct.get(`/work-packets?directiveId=${directiveId}`)).body;
    await walk.owner.get(`/work-packets/${items[0].workPacketId}`);
    await walk.owner.get(`/work-packets/${newId('pkt')}`);
  },
  'POST /api/pro/work-packets/{id}/undo': async (walk) => {
    const body = { reason: 'It was wrong.' };
    const directiveId = await walk.executed(MEMO);
    const { items } = (await walk.direct.get(`/work-packets?directiveId=${directiveId}`)).body;
    const path = `/work-packets/${items[0].workPacketId}/undo`;
    await (await walk.viewer()).post(path, body);
    await walk.owner.post(path, body);
    await walk.owner.post(path, body);
    await walk.owner.post(`/work-packets/${newId('pkt')}/undo`, body);
  },
  'GET /api/pro/documents/{id}': async (walk) => {
    await walk.executed(MEMO);
    const { items } = (await walk.direct.get('/documents')).body;
    await walk.owner.get(`/documents/${items[0].documentId}`);
    await walk.owner.get(`/documents/${newId('doc')}`);
  },
};

const APPROVALS: Record<string, Step> = {
  'POST /api/pro/approvals': async (walk) => {
    const [one, two] = [await walk.ready(), await walk.ready()];
    await walk.owner.post('/approvals', { approvalId: one.approvalId, decision: 'approve' });
    await walk.owner.post('/approvals', {
      decisions: [
        { approvalId: two.approvalId, decision: 'reject', feedback: 'Thursday, not Friday.', revise: true },
        { approvalId: newId('apr'), decision: 'approve' },
      ],
    });
    await (await walk.viewer()).post('/approvals', { approvalId: one.approvalId, decision: 'approve' });
  },
  'GET /api/pro/approvals/contents': async (walk) => {
    const { approvalId } = await walk.ready();
    await walk.owner.get(`/approvals/contents?ids=${approvalId},${newId('apr')}`);
    await walk.stranger.get(`/approvals/contents?ids=${approvalId}`);
  },
  'GET /api/pro/approvals/{approvalId}': async (walk) => {
    const { approvalId } = await walk.ready();
    await walk.owner.get(`/approvals/${approvalId}`);
    await walk.direct.post(`/approvals/${approvalId}/reject`, { feedback: 'Not now.' });
    await walk.owner.get(`/approvals/${approvalId}?wait=1`);
    await walk.owner.get(`/approvals/${newId('apr')}`);
  },
  'PATCH /api/pro/approvals/{approvalId}': async (walk) => {
    const { approvalId, contentHash } = await walk.ready(MEMO);
    const path = `/approvals/${approvalId}`;
    const note = { title: 'Delivery of order 17', body: 'Jane was told.' };
    const add = [{ action: { type: 'document.file', params: note, title: 'Note on order 17' } }];
    const edit = (body: object, tag: string) => walk.owner.send('PATCH', path, body, { 'If-Match': tag });
    const edited = (await edit({ add }, `"${contentHash}"`)).body;
    const [{ workPacketId }, added] = edited.packets;
    const packets = [
      {
        workPacketId: added.workPacketId,
        params: { ...note, body: 'Jane and Joe were told.' },
        confirm: ['params.body'],
      },
    ];
    await edit({ packets, remove: [workPacketId] }, edited.contentHash);
    await edit({ add }, contentHash);
    await edit({ packets: [{ workPacketId, params: {} }] }, edited.contentHash);
    await (await walk.viewer()).send('PATCH', path, { add }, { 'If-Match': contentHash });
  },
  'POST /api/pro/approvals/{approvalId}/approve': async (walk) => {
    const one = await walk.ready();
    await walk.owner.post(`/approvals/${one.approvalId}/approve`);
    const two = await walk.ready();
    const path = `/approvals/${two.approvalId}/approve`;
    await walk.owner.post(path, undefined, { 'If-Match': `"${'0'.repeat(64)}"` });
    await walk.owner.post(path, undefined, { 'If-Match': `"${two.contentHash}"` });
  },
  'POST /api/pro/approvals/{approvalId}/reject': async (walk) => {
    const { approvalId } = await walk.ready();
    await walk.owner.post(`/approvals/${approvalId}/reject`, {
      feedback: 'Thursday, not Friday.',
      revise: true,
    });
    await walk.owner.post(`/approvals/${newId('apr')}/reject`, { feedback: 'Not now.' });
  },
};

const GUARDIAN: Record<string, Step> = {
  'PUT /api/pro/guardian/mode': async (walk) => {
    await walk.owner.put('/guardian/mode', { mode: 'supervised' });
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.put('/guardian/mode', { mode: 'autonomous' });
  },
  'POST /api/pro/guardian/checkpoint': async (walk) => {
    await walk.order(ALLOW_MEMOS);
    await walk.owner.post('/guardian/checkpoint', { label: 'Before spring' });
    await walk.owner.post('/guardian/checkpoint');
    await (await walk.viewer()).post('/guardian/checkpoint');
  },
  'GET /api/pro/guardian/checkpoint': async (walk) => {
    await walk.order(ALLOW_MEMOS);
    await walk.owner.get('/guardian/checkpoint');
    await walk.owner.get('/guardian/checkpoint?limit=1&offset=0');
    await walk.stranger.get('/guardian/checkpoint');
  },
  'GET /api/pro/guardian/checkpoint/{checkpointId}': async (walk) => {
    await walk.order(ALLOW_MEMOS);
    const { checkpointId } = (await walk.direct.post('/guardian/checkpoint')).body;
    await walk.owner.get(`/guardian/checkpoint/${checkpointId}`);
    await walk.owner.get(`/guardian/checkpoint/${newId('chk')}`);
  },
  'GET /api/pro/guardian/reverts/{revertId}': async (walk) => {
    await walk.direct.post('/guardian/checkpoint');
    await walk.executed(MEMO);
    const { revertId } = (await walk.direct.post('/guardian/revert', { mode: 'compensate' })).body;
    await walk.owner.get(`/guardian/reverts/${revertId}`);
    await walk.owner.get(`/guardian/reverts/${revertId}?limit=1`);
    await walk.owner.get(`/guardian/reverts/${newId('rvt')}`);
    await (await walk.viewer()).get(`/guardian/reverts/${revertId}`);
  },
  'POST /api/pro/guardian/revert': async (walk) => {
    await walk.owner.post('/guardian/revert');
    await walk.owner.post('/guardian/revert', { mode: 'restore' });
    await walk.order(ALLOW_MEMOS);
    const { checkpointId } = (await walk.direct.post('/guardian/checkpoint')).body;
    await walk.order({ name: 'No mail', effect: 'deny', match: { actionTypes: ['email.send'] } });
    await walk.owner.post('/guardian/revert', { mode: 'restore', checkpointId, dryRun: true });
    await walk.owner.post('/guardian/revert', { mode: 'restore', checkpointId, reason: 'As it was.' });
    await walk.executed(MEMO);
    await walk.owner.post('/guardian/revert', { mode: 'compensate', checkpointId, dryRun: true });
    await walk.owner.post('/guardian/revert', { mode: 'compensate', checkpointId: newId('chk') });
    await walk.ready();
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.post('/guardian/revert', { reason: 'All clear.', mode: 'resume' });
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.post('/guardian/revert');
  },
  ...each(['kill-switch', 'killswitch'], (spelling) => ({
    [`POST /api/pro/guardian/${spelling}`]: async (walk) => {
      await walk.direct.post('/directives', { directive: MAIL, capo: 'capo_ops', requiresApproval: false });
      await walk.owner.post(`/guardian/${spelling}`);
      await walk.owner.post(`/guardian/${spelling}`, { reason: 'A wrong price list.' });
      await (await walk.viewer()).post(`/guardian/${spelling}`, {});
    },
  })),
};

const ORDERS: Record<string, Step> = {
  'POST /api/pro/standing-orders': async (walk) => {
    await walk.owner.post('/standing-orders', {
      ...ALLOW_MAIL,
      text: 'Mail to Acme may leave on workdays.',
      capos: ['capo_ops'],
      match: {
        actionTypes: ['email.send'],
        reversibility: ['irreversible'],
        fields: { 'params.to': { $domainIn: ['acme.example'] } },
      },
      when: { days: ['mon', 'tue'], from: '08:00', to: '18:00', timezone: 'Europe/Vienna' },
      limits: { maxPerHour: 10, maxRecipients: 3 },
      budget: { window: 'day', amount: 20, currency: 'USD', warnPercent: 80, onExceed: 'require_approval' },
      approval: { expiresInMinutes: 60, onExpiry: 'reject', selfApproval: false },
      expiresAt: Date.now() + 30 * 86_400_000,
    });
    await walk.owner.post('/standing-orders', { name: 'No mail', effect: 'deny', match: {} });
    await (await walk.viewer()).post('/standing-orders', { name: 'No mail', effect: 'deny', match: {} });
  },
  'GET /api/pro/standing-orders/{standingOrderId}': async (walk) => {
    await walk.owner.get(`/standing-orders/${await walk.order(ALLOW_MAIL)}`);
    await walk.owner.get(`/standing-orders/${newId('so')}`);
  },
  'DELETE /api/pro/standing-orders/{standingOrderId}': async (walk) => {
    await walk.owner.delete(`/standing-orders/${await walk.order(ALLOW_MAIL)}`);
    await walk.owner.delete(`/standing-orders/${newId('so')}`);
  },
  'POST /api/pro/standing-orders/{standingOrderId}/activate': async (walk) => {
    const path = `/standing-orders/${await walk.order(ALLOW_MAIL)}/activate`;
    await walk.owner.post(path);
    await walk.owner.post(path, { shadow: true });
    await walk.owner.post(path, { acknowledge: true, version: 1 });
    await walk.owner.post(path);
  },
  'PATCH /api/pro/standing-orders/{standingOrderId}': async (walk) => {
    const path = `/standing-orders/${await walk.order(ALLOW_MEMOS)}`;
    await walk.owner.send('PATCH', path, { name: 'Memos', limits: { maxPerDay: 5 }, capos: null });
    await walk.owner.send('PATCH', path, { match: { actionTypes: ['email.sned'] } });
    await (await walk.viewer()).send('PATCH', path, { name: 'Mine' });
    await walk.owner.send('PATCH', `/standing-orders/${newId('so')}`, { name: 'Nothing' });
  },
  'GET /api/pro/standing-orders/{standingOrderId}/versions': async (walk) => {
    await walk.owner.get(`/standing-orders/${await walk.order(ALLOW_MEMOS)}/versions`);
    await walk.owner.get(`/standing-orders/${newId('so')}/versions`);
  },
  'GET /api/pro/standing-orders/{standingOrderId}/versions/{version}': async (walk) => {
    const path = `/standing-orders/${await walk.order(ALLOW_MEMOS)}/versions`;
    await walk.owner.get(`${path}/1`);
    await walk.owner.get(`${path}/2`);
  },
  'POST /api/pro/standing-orders/{standingOrderId}/rollback': async (walk) => {
    const path = `/standing-orders/${await walk.order(ALLOW_MEMOS)}`;
    await walk.direct.send('PATCH', path, { name: 'Memos' });
    await walk.owner.post(`${path}/rollback`, { version: 1 });
    await walk.owner.post(`${path}/rollback`, { version: 9 });
    await walk.owner.post(`/standing-orders/${newId('so')}/rollback`, { version: 1 });
  },
  'POST /api/pro/standing-orders/{standingOrderId}/simulate': async (walk) => {
    await walk.executed();
    await walk.owner.post(`/standing-orders/${await walk.order(ALLOW_MEMOS)}/simulate`);
    await walk.owner.post(`/standing-orders/${newId('so')}/simulate`);
  },
  'GET /api/pro/standing-orders/suggestions': async (walk) => {
    await leaveDecided(walk.test, walk.workspaceId);
    await walk.owner.get('/standing-orders/suggestions');
    await walk.stranger.get('/standing-orders/suggestions');
  },
  'POST /api/pro/standing-orders/suggestions/{suggestionId}/accept': async (walk) => {
    const wanted = await leaveDecided(walk.test, walk.workspaceId);
    const unwanted = await leaveDecided(walk.test, walk.workspaceId, { to: 'john@other.example' });
    await walk.direct.post(`/standing-orders/suggestions/${unwanted}/dismiss`);
    for (const id of [wanted, unwanted, newId('sug')]) {
      await walk.owner.post(`/standing-orders/suggestions/${id}/accept`);
    }
  },
  'POST /api/pro/standing-orders/suggestions/{suggestionId}/dismiss': async (walk) => {
    const unwanted = await leaveDecided(walk.test, walk.workspaceId);
    const wanted = await leaveDecided(walk.test, walk.workspaceId, { to: 'john@other.example' });
    await walk.direct.post(`/standing-orders/suggestions/${wanted}/accept`);
    for (const id of [unwanted, wanted, newId('sug')]) {
      await walk.owner.post(`/standing-orders/suggestions/${id}/dismiss`);
    }
  },
  'POST /api/pro/standing-orders/{standingOrderId}/pause': async (walk) => {
    await walk.owner.post(`/standing-orders/${await walk.order(ALLOW_MEMOS)}/pause`);
    await walk.owner.post(`/standing-orders/${newId('so')}/pause`);
  },
};

/** A pack that has arrived. */
async function installed(walk: Walk): Promise<string> {
  const { packId } = (await walk.direct.post('/skill-packs', signedPack(manifestOf(), PUBLISHER))).body;
  await eventually(
    async () => (await walk.direct.get(`/skill-packs/${packId}`)).body.status,
    (status) => status === 'installed',
  );
  return packId;
}

const PACKS: Record<string, Step> = {
  'GET /api/pro/skill-packs': async (walk) => {
    await installed(walk);
    await walk.owner.get('/skill-packs');
    await walk.owner.get('/skill-packs?status=installed&limit=1');
    await walk.stranger.get('/skill-packs');
  },
  'POST /api/pro/skill-packs': async (walk) => {
    const pack = (changes: object, by = PUBLISHER) => signedPack({ ...manifestOf(), ...changes }, by);
    await walk.owner.post('/skill-packs', pack({ version: '1.1.0' }));
    await walk.owner.post('/skill-packs', pack({ version: '1.1.0' }));
    await walk.owner.post('/skill-packs', pack({}));
    await walk.owner.post('/skill-packs', pack({ name: 'lnvoice-reminders' }));
    await walk.owner.post('/skill-packs', pack({ name: 'faulty', licence: 'MIT' }));
    await walk.owner.post('/skill-packs', pack({}, newPublisher('acme')));
    await walk.owner.post('/skill-packs', pack({ publisher: 'globex' }));
    await (await walk.viewer()).post('/skill-packs', pack({}));
  },
  'GET /api/pro/skill-packs/{packId}': async (walk) => {
    await walk.owner.get(`/skill-packs/${await installed(walk)}`);
    await walk.owner.get(`/skill-packs/${newId('pck')}`);
  },
  'DELETE /api/pro/skill-packs/{packId}': async (walk) => {
    const path = `/skill-packs/${await installed(walk)}`;
    await (await walk.viewer()).delete(path);
    await walk.owner.delete(path);
    await walk.owner.delete(path);
    await walk.owner.delete(`/skill-packs/${newId('pck')}`);
  },
};

/** An action request of the owner that a person has approved. */
async function approvedAction(walk: Walk): Promise<{ path: string; paramsHash: string }> {
  const { actionRequestId, approvalId, paramsHash } = await leaveActionRequest(walk.direct);
  await walk.direct.post(`/approvals/${approvalId}/approve`);
  return { path: `/action-requests/${actionRequestId}`, paramsHash };
}

const attempt = () => randomBytes(16).toString('hex');

const ACTION_REQUESTS: Record<string, Step> = {
  'POST /api/pro/action-requests': async (walk) => {
    const body = {
      tool: 'crm.refund',
      params: { order: 'A-17', amount: 25 },
      reason: 'Returned on Monday.',
      run: { id: 'run_1', framework: null },
      externalId: 'refund-A-17',
      expiresInSeconds: 3_600,
      consume: false,
    };
    await walk.owner.post('/action-requests', body);
    await walk.owner.post('/action-requests', body);
    await walk.owner.post('/action-requests', { ...body, params: { order: 'A-18' } });
    await walk.owner.post('/action-requests', { ...body, tool: 'email.send' });
    await walk.direct.post('/tools', TOOL);
    await walk.order({ name: 'Refunds', effect: 'allow', match: { actionTypes: [TOOL.name] } });
    await walk.owner.post('/action-requests', { tool: TOOL.name, params: { amount: 25 }, consume: true });
    await walk.owner.post('/action-requests', { tool: TOOL.name, params: { amount: 'much' } });
    await (await walk.viewer()).post('/action-requests', body);
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.post('/action-requests', { tool: 'crm.refund', params: {} });
  },
  'GET /api/pro/action-requests': async (walk) => {
    await leaveActionRequest(walk.direct, { tool: 'crm.refund' });
    await walk.owner.get('/action-requests');
    await walk.owner.get('/action-requests?status=pending&tool=crm.refund&limit=1');
    await walk.owner.get(`/action-requests?teamId=${newId('team')}`);
    await walk.stranger.get('/action-requests');
  },
  'GET /api/pro/action-requests/{actionRequestId}': async (walk) => {
    const { actionRequestId } = await leaveActionRequest(walk.direct);
    await walk.owner.get(`/action-requests/${actionRequestId}`);
    await walk.owner.get(`/action-requests/${(await approvedAction(walk)).path.split('/').at(-1)}?wait=5`);
    await walk.owner.get(`/action-requests/${newId('act')}`);
  },
  'POST /api/pro/action-requests/{actionRequestId}/consume': async (walk) => {
    const { path, paramsHash } = await approvedAction(walk);
    await walk.owner.post(`${path}/consume`, { attempt: attempt(), paramsHash: '0'.repeat(64) });
    await walk.owner.post(`${path}/consume`, { attempt: attempt() });
    await walk.owner.post(`${path}/consume`, { attempt: attempt(), params: { order: 'A-17' } });
    await walk.owner.post(`${path}/consume`, { attempt: attempt(), paramsHash });
    await (await walk.viewer()).post(`${path}/consume`, { attempt: attempt(), paramsHash });
    const pending = await leaveActionRequest(walk.direct);
    const body = { attempt: attempt(), paramsHash: pending.paramsHash };
    await walk.owner.post(`/action-requests/${pending.actionRequestId}/consume`, body);
    await walk.owner.post(`/action-requests/${newId('act')}/consume`, body);
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.post(`/action-requests/${pending.actionRequestId}/consume`, body);
  },
  'POST /api/pro/action-requests/{actionRequestId}/result': async (walk) => {
    const { path, paramsHash } = await approvedAction(walk);
    const result = { outcome: 'succeeded', summary: 'Refunded.', output: { refundId: 're_123' } };
    await walk.owner.post(`${path}/result`, result);
    await walk.direct.post(`${path}/consume`, { attempt: attempt(), paramsHash });
    await walk.owner.post(`${path}/result`, result);
    await walk.owner.post(`${path}/result`, result);
    await walk.owner.post(`${path}/result`, { ...result, outcome: 'failed' });
    await walk.owner.post(`/action-requests/${newId('act')}/result`, result);
  },
  'POST /api/pro/action-requests/{actionRequestId}/cancel': async (walk) => {
    const { path } = await approvedAction(walk);
    await (await walk.viewer()).post(`${path}/cancel`);
    await walk.owner.post(`${path}/cancel`);
    await walk.owner.post(`${path}/cancel`);
    await walk.owner.post(`/action-requests/${newId('act')}/cancel`);
  },
};

const QUESTIONS: Record<string, Step> = {
  'POST /api/pro/questions': async (walk) => {
    const body = {
      title: 'Which plan does the customer get?',
      answerSchema: PLAN,
      reason: 'The customer has asked for both.',
      externalId: 'plan-of-4711',
      expiresInSeconds: 3_600,
    };
    await walk.owner.post('/questions', body);
    await walk.owner.post('/questions', body);
    await walk.owner.post('/questions', { ...body, title: 'Which one?' });
    await walk.owner.post('/questions', { ...body, answerSchema: { type: 'object', properties: {} } });
    await walk.owner.post('/questions', { title: 'Whose?', answerSchema: PLAN, teamId: newId('team') });
    await (await walk.viewer()).post('/questions', body);
    await walk.direct.post('/guardian/kill-switch');
    await walk.owner.post('/questions', { title: 'Which plan?', answerSchema: PLAN });
  },
  'GET /api/pro/questions': async (walk) => {
    await leaveQuestion(walk.direct);
    await walk.owner.get('/questions');
    await walk.owner.get('/questions?status=pending&limit=1');
    await walk.owner.get(`/questions?teamId=${newId('team')}`);
    await walk.stranger.get('/questions');
  },
  'GET /api/pro/questions/{questionId}': async (walk) => {
    const { questionId, approvalId } = await leaveQuestion(walk.direct);
    await walk.owner.get(`/questions/${questionId}`);
    await walk.direct.post(`/approvals/${approvalId}/respond`, { answer: { plan: 'pro' } });
    await walk.owner.get(`/questions/${questionId}?wait=5`);
    await walk.owner.get(`/questions/${newId('qst')}`);
  },
  'POST /api/pro/questions/{questionId}/cancel': async (walk) => {
    const { questionId } = await leaveQuestion(walk.direct);
    await (await walk.viewer()).post(`/questions/${questionId}/cancel`);
    await walk.owner.post(`/questions/${questionId}/cancel`);
    const declined = await leaveQuestion(walk.direct);
    await walk.direct.post(`/approvals/${declined.approvalId}/reject`, { feedback: 'Not now.' });
    await walk.owner.post(`/questions/${declined.questionId}/cancel`);
    await walk.owner.post(`/questions/${newId('qst')}/cancel`);
  },
  'POST /api/pro/approvals/{approvalId}/respond': async (walk) => {
    const respond = (id: string, plan: string, client = walk.owner, headers = {}) =>
      client.send('POST', `/approvals/${id}/respond`, { answer: { plan } }, headers);
    const { approvalId } = await leaveQuestion(walk.direct);
    await respond(approvalId, 'gold');
    await respond(approvalId, 'pro', walk.owner, { 'If-Match': `"${'0'.repeat(64)}"` });
    await respond(approvalId, 'pro', await walk.viewer());
    await respond(approvalId, 'pro');
    await respond(approvalId, 'basic');
    await respond(newId('apr'), 'pro');
    await respond((await leaveActionRequest(walk.direct)).approvalId, 'pro');
    const open = await leaveQuestion(walk.direct);
    await walk.direct.post('/guardian/kill-switch');
    await respond(open.approvalId, 'pro');
  },
};

/** A tool that is active, by its name with a slash. */
async function registered(walk: Walk): Promise<{ path: string; fingerprint: string }> {
  const { body } = await walk.direct.post('/tools', TOOL);
  return { path: '/tools/acme.payments%2Frefund', fingerprint: body.fingerprint };
}

const TOOL = {
  name: 'acme.payments/refund',
  titleTemplate: 'Refund {{amount}}',
  paramsSchema: { type: 'object', properties: { amount: { type: 'integer' } } },
};

const TOOLS: Record<string, Step> = {
  'GET /api/pro/tools': async (walk) => {
    await registered(walk);
    await walk.owner.get('/tools');
    await walk.owner.get('/tools?status=active&limit=1');
    await walk.stranger.get('/tools');
  },
  'POST /api/pro/tools': async (walk) => {
    await walk.owner.post('/tools', TOOL);
    await walk.owner.post('/tools', TOOL);
    await walk.owner.post('/tools', { ...TOOL, risk: 'low' });
    await walk.owner.post('/tools', { ...TOOL, name: 'email.send' });
    await (await walk.viewer()).post('/tools', TOOL);
  },
  'GET /api/pro/tools/{name}': async (walk) => {
    await walk.owner.get((await registered(walk)).path);
    await walk.owner.get('/tools/nobody');
  },
  'PATCH /api/pro/tools/{name}': async (walk) => {
    const { path, fingerprint } = await registered(walk);
    await walk.owner.send('PATCH', path, { status: 'paused' });
    await walk.owner.send('PATCH', path, { status: 'active' });
    await walk.owner.send('PATCH', path, { status: 'active' }, { 'If-Match': '"other"' });
    await walk.owner.send('PATCH', path, { status: 'active', risk: 'low' }, { 'If-Match': fingerprint });
    await walk.owner.send('PATCH', '/tools/nobody', { status: 'paused' });
  },
  'DELETE /api/pro/tools/{name}': async (walk) => {
    const { path } = await registered(walk);
    await (await walk.viewer()).delete(path);
    await walk.owner.delete(path);
    await walk.owner.delete(path);
  },
};

const EVALS: Record<string, Step> = {
  'POST /api/pro/evals/run': async (walk) => {
    const targetEntityId = await walk.order(ALLOW_MAIL);
    const body = { name: 'Before the holidays', targetEntityType: 'standing_order', targetEntityId };
    await walk.owner.post('/evals/run', body);
    const definition = { name: 'price-quote', schemaVersion: 1 };
    await walk.owner.post('/evals/run', {
      name: 'A new skill',
      targetEntityType: 'skill',
      targetEntityId: 'price-quote',
      definition,
    });
    await walk.owner.post('/evals/run', { ...body, targetEntityId: newId('so') });
    await (await walk.viewer()).post('/evals/run', body);
  },
  'GET /api/pro/evals': async (walk) => {
    const targetEntityId = await walk.order(ALLOW_MEMOS);
    const body = { name: 'Memos', targetEntityType: 'standing_order', targetEntityId };
    await walk.direct.post('/evals/run', body);
    await walk.owner.get('/evals');
    await walk.owner.get('/evals?kind=standing_order_safety&passed=true&limit=1');
    await walk.stranger.get('/evals');
  },
  'GET /api/pro/evals/{evalRunId}': async (walk) => {
    const targetEntityId = await walk.order(ALLOW_MAIL);
    const body = { name: 'Mail', targetEntityType: 'standing_order', targetEntityId };
    const { evalRunId } = (await walk.direct.post('/evals/run', body)).body;
    await walk.owner.get(`/evals/${evalRunId}`);
    await walk.owner.get(`/evals/${newId('evl')}`);
  },
  'POST /api/pro/guardian/preflight': async (walk) => {
    const action = { type: 'document.file', params: { title: 'Note', body: 'Jane was told.' } };
    await walk.direct.post('/standing-orders', ALLOW_MEMOS);
    await walk.owner.post('/guardian/preflight', { action, capo: 'capo_ops', priority: 'high' });
    await walk.owner.post('/guardian/preflight', { directive: MAIL, context: { order: 17 } });
    await walk.owner.post('/guardian/preflight', { action: { type: 'fax.send', params: {} } });
    await walk.owner.post('/guardian/preflight', { action, teamId: newId('team') });
    await (await walk.viewer()).post('/guardian/preflight', { action });
  },
};

const SECTION = { title: 'Pipeline', directive: 'File a summary of the open offers.', capo: 'capo_revenue' };

const REPORTS: Record<string, Step> = {
  'GET /api/pro/reports/daily': async (walk) => {
    const date = new Date().toISOString().slice(0, 10);
    await walk.executed();
    await walk.direct.post('/reports/custom-sections', SECTION);
    await walk.owner.get('/reports/daily');
    await walk.owner.get(`/reports/daily?date=${date}`);
    await walk.owner.get('/reports/daily', { Accept: 'text/plain' });
    await walk.owner.get('/reports/daily?date=2999-12-31');
    await walk.stranger.get('/reports/daily');
  },
  'GET /api/pro/reports': async (walk) => {
    await walk.report();
    await walk.owner.get('/reports');
    await walk.owner.get('/reports?limit=1&offset=1');
    await walk.stranger.get('/reports');
  },
  'GET /api/pro/reports/config': async (walk) => {
    await walk.owner.get('/reports/config');
    await (await walk.viewer()).get('/reports/config');
  },
  'PUT /api/pro/reports/config': async (walk) => {
    await walk.owner.put('/reports/config', {
      sections: { trustIntelligence: false },
      delivery: { time: '06:30', timezone: 'Europe/Vienna', email: true, emailAddress: 'boss@acme.example' },
      format: 'plain-text',
      schedule: 'daily',
    });
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'admin');
    await walk.owner.put('/reports/config', { delivery: { memberIds: [memberId] } });
    await walk.owner.put('/reports/config', { delivery: { emailAddress: null, memberIds: [] } });
    await (await walk.viewer()).put('/reports/config', { format: 'json' });
  },
  'GET /api/pro/reports/custom-sections': async (walk) => {
    await walk.direct.post('/reports/custom-sections', SECTION);
    await walk.owner.get('/reports/custom-sections');
    await (await walk.viewer()).get('/reports/custom-sections');
  },
  'POST /api/pro/reports/custom-sections': async (walk) => {
    for (let n = 0; n < 9; n++) await walk.direct.post('/reports/custom-sections', SECTION);
    await walk.owner.post('/reports/custom-sections', { ...SECTION, includeInReport: false });
    await walk.owner.post('/reports/custom-sections', SECTION);
    await (await walk.viewer()).post('/reports/custom-sections', SECTION);
  },
  'DELETE /api/pro/reports/custom-sections/{sectionId}': async (walk) => {
    const { sectionId } = (await walk.direct.post('/reports/custom-sections', SECTION)).body;
    await walk.owner.send('DELETE', `/reports/custom-sections/${sectionId}`);
    await walk.owner.send('DELETE', `/reports/custom-sections/${sectionId}`);
  },
  'POST /api/pro/reports/{reportId}/resend': async (walk) => {
    const reportId = await walk.report();
    await walk.owner.post(`/reports/${reportId}/resend`);
    await walk.direct.put('/reports/config', {
      delivery: { email: true, emailAddress: 'boss@acme.example' },
    });
    await walk.owner.post(`/reports/${reportId}/resend`);
    await walk.owner.post(`/reports/${reportId}/resend`, { to: 'failed' });
    await walk.owner.post(`/reports/${newId('rpt')}/resend`);
  },
};

const REST: Record<string, Step> = {
  'GET /api/pro/audit-feed/verify': async (walk) => {
    await walk.executed();
    await walk.owner.get('/audit-feed/verify');
    const { seq, hash } = (await walk.direct.get('/audit-feed/head')).body;
    await walk.owner.get(`/audit-feed/verify?heldSeq=${seq}&heldHash=${hash}`);
    await walk.stranger.get('/audit-feed/verify');
  },
  'POST /api/pro/agents/{role}/pause': async (walk) => {
    await walk.owner.post('/agents/capo_ops/pause');
    await (await walk.viewer()).post('/agents/capo_ops/pause');
  },
  'POST /api/pro/agents/{role}/resume': async (walk) => {
    await walk.direct.post('/agents/capo_ops/pause');
    await walk.owner.post('/agents/capo_ops/resume');
    await (await walk.viewer()).post('/agents/capo_ops/resume');
  },
  'GET /api/pro/kpi': async (walk) => {
    const { headers } = await walk.owner.get('/kpi');
    await walk.owner.get('/kpi', { 'If-None-Match': headers.get('etag')! });
    await walk.owner.get(`/kpi?teamId=${await walk.test.createTeam(walk.workspaceId, 'Marketing')}`);
    await walk.owner.get(`/kpi?teamId=${newId('team')}`);
  },
  'GET /api/pro/signals/{signalId}': async (walk) => {
    await walk.owner.get(`/signals/${await walk.signal()}`);
    await walk.owner.get(`/signals/${newId('sig')}`);
  },
  'POST /api/pro/ack': async (walk) => {
    await walk.owner.post('/ack', { signalId: await walk.signal(), note: 'Called them.' });
    await walk.owner.post('/ack', { signalId: await walk.signal(), snoozeUntil: Date.now() + 3_600_000 });
    await walk.owner.post('/ack', { signalId: newId('sig') });
  },
  'GET /api/pro/connectors/{connectorId}/checks': async (walk) => {
    const connectorId = await leaveChecked(walk.test, walk.workspaceId);
    await walk.owner.get(`/connectors/${connectorId}/checks`);
    await walk.owner.get(`/connectors/${newId('con')}/checks`);
  },
  'GET /api/pro/escalations/{escalationId}': async (walk) => {
    await walk.owner.get(`/escalations/${await walk.escalation()}`);
    await walk.owner.get(`/escalations/${newId('esc')}`);
  },
  'POST /api/pro/escalations/decide': async (walk) => {
    const decision = { escalationId: await walk.escalation(), decision: 'dismiss', note: 'It is out.' };
    await walk.owner.post('/escalations/decide', decision);
    await walk.owner.post('/escalations/decide', { ...decision, decision: 'extend' });
    await walk.owner.post('/escalations/decide', { ...decision, escalationId: newId('esc') });
  },
  'POST /api/pro/revenue-events': async (walk) => {
    const event = { amount: 600.5, currency: 'EUR', source: 'Acme', externalId: 'inv-17' };
    const report = { ...event, description: 'Pallets', occurredAt: Date.now() };
    await walk.owner.post('/revenue-events', report);
    await walk.owner.post('/revenue-events', report);
    await walk.owner.post('/revenue-events', { ...event, amount: 700 });
  },
  'POST /api/pro/partner/induction': async (walk) => {
    const secret = await rotateSecret(walk.test, walk.workspaceId);
    const firedAt = Date.now();
    await walk.update(walk.anyone, { firedAt }, secret);
    await walk.update(walk.anyone, { firedAt }, secret);
    await walk.update(walk.anyone, { firedAt, delta: -0.3, newConfidence: 0.35 }, secret);
    await walk.update(walk.anyone, { firedAt }, 'another secret');
  },
  'POST /api/pro/setup/test-mail': async (walk) => {
    await walk.owner.post('/setup/test-mail');
    await (await walk.viewer()).post('/setup/test-mail');
  },
  'POST /api/pro/setup/test-model': async (walk) => {
    await walk.owner.post('/setup/test-model');
    await (await walk.viewer()).post('/setup/test-model');
  },
  'PUT /api/pro/settings': async (walk) => {
    await walk.owner.put('/settings', {
      timezone: 'Europe/Vienna',
      quietHours: { from: '22:00', to: '07:00' },
    });
    await walk.owner.put('/settings', { quietHours: null });
    await walk.owner.put('/settings', { modelBudget: { amount: 25, currency: 'USD', tokens: 2_000_000 } });
    await walk.owner.put('/settings', { modelBudget: {} });
    await (await walk.viewer()).put('/settings', { presence: 'away' });
  },
  'PUT /api/pro/profile/notifications': async (walk) => {
    const viewer = await walk.viewer();
    await viewer.put('/profile/notifications', {
      approvals: 'digest',
      quietHours: { from: '22:00', to: '07:00' },
    });
    await viewer.put('/profile/notifications', { approvals: null, quietHours: null, atAnyHour: true });
    await walk.stranger.put('/profile/notifications', { approvals: 'all' });
  },
  'POST /api/pro/tokens': async (walk) => {
    await walk.owner.post('/tokens', { name: 'Ledger' });
    await walk.owner.post('/tokens', { name: 'Ledger', memberId: newId('mem') });
    const agent = { name: 'CRM', agent: { name: newId('tok') }, tools: ['crm.*'] };
    await walk.owner.post('/tokens', agent);
    await walk.owner.post('/tokens', agent);
  },
  'DELETE /api/pro/tokens/{id}': async (walk) => {
    const { tokenId } = (await walk.direct.post('/tokens', { name: 'Ledger' })).body;
    await walk.owner.delete(`/tokens/${tokenId}`);
    await walk.owner.delete(`/tokens/${newId('tok')}`);
  },
  'POST /api/pro/tokens/{id}/pause': async (walk) => {
    const { tokenId } = (await walk.direct.post('/tokens', { name: 'Ledger' })).body;
    await walk.owner.post(`/tokens/${tokenId}/pause`);
    await walk.owner.post(`/tokens/${newId('tok')}/pause`);
  },
  'POST /api/pro/tokens/{id}/resume': async (walk) => {
    const { tokenId } = (await walk.direct.post('/tokens', { name: 'Ledger' })).body;
    await walk.owner.post(`/tokens/${tokenId}/resume`);
    await walk.direct.delete(`/tokens/${tokenId}`);
    await walk.owner.post(`/tokens/${tokenId}/resume`);
  },
  'POST /api/pro/tokens/{id}/rotate': async (walk) => {
    const { tokenId } = (await walk.direct.post('/tokens', { name: 'Ledger' })).body;
    await walk.owner.post(`/tokens/${tokenId}/rotate`);
    await walk.owner.post(`/tokens/${tokenId}/rotate`);
  },
  'GET /api/pro/deliveries/{id}': async (walk) => {
    await walk.owner.get(`/deliveries/${await walk.delivery(await walk.destination())}`);
    await walk.owner.get(`/deliveries/${newId('dlv')}`);
  },
  'POST /api/pro/deliveries/{id}/redeliver': async (walk) => {
    const deliveryId = await walk.delivery(await walk.destination());
    await walk.owner.post(`/deliveries/${deliveryId}/redeliver`, { unlessDelivered: true });
    await walk.owner.post(`/deliveries/${newId('dlv')}/redeliver`);
  },
  'POST /api/pro/webhooks': async (walk) => {
    const body = { event: 'report.daily', url: walk.receiver.url, secret: 'a secret of Acme 2026' };
    await walk.owner.post('/webhooks', body);
    await walk.owner.post('/webhooks', { ...body, url: 'https://127.0.0.1/hooks' });
  },
  'POST /api/pro/partner/webhooks': async (walk) => {
    const body = { description: 'Ledger', url: walk.receiver.url };
    await walk.owner.post('/partner/webhooks', body);
    await walk.owner.post('/partner/webhooks', { ...body, url: 'https://127.0.0.1/hooks' });
  },
  ...each(['webhooks', 'partner/webhooks'], (spelling) => {
    const base = `/api/pro/${spelling}`;
    return {
      [`GET ${base}`]: async (walk) => {
        await walk.destination();
        await walk.owner.get(base);
        await walk.owner.get(`${base}?limit=1`);
        await (await walk.viewer()).get(base);
      },
      [`PATCH ${base}/{id}`]: async (walk) => {
        const path = `${base}/${await walk.destination()}`;
        await walk.owner.send('PATCH', path, { description: 'Ledger', events: ['report.daily'] });
        await walk.owner.send('PATCH', path, { url: 'https://127.0.0.1/hooks' });
        await walk.owner.send('PATCH', `${base}/${newId('whk')}`, { description: 'Ledger' });
      },
      [`DELETE ${base}/{id}`]: async (walk) => {
        await walk.owner.delete(`${base}/${await walk.destination()}`);
        await walk.owner.delete(`${base}/${newId('whk')}`);
      },
      [`GET ${base}/{id}/deliveries`]: async (walk) => {
        const destinationId = await walk.destination();
        await walk.delivery(destinationId);
        await walk.owner.get(`${base}/${destinationId}/deliveries`);
        await walk.owner.get(`${base}/${newId('whk')}/deliveries`);
      },
      [`POST ${base}/{id}/test`]: async (walk) => {
        await walk.owner.post(`${base}/${await walk.destination()}/test`);
        await walk.owner.post(`${base}/${newId('whk')}/test`);
      },
      [`POST ${base}/{id}/resume`]: async (walk) => {
        const destinationId = await walk.destination();
        await walk.test.rows(`update webhook_destinations set status = 'paused' where destination_id = $1`, [
          destinationId,
        ]);
        await walk.owner.post(`${base}/${destinationId}/resume`);
        await walk.owner.post(`${base}/${newId('whk')}/resume`);
      },
      [`POST ${base}/{id}/rotate-secret`]: async (walk) => {
        const path = `${base}/${await walk.destination()}/rotate-secret`;
        await walk.owner.post(path);
        await walk.owner.post(path, { secret: 'another secret of Acme' });
        await walk.owner.post(`${base}/${newId('whk')}/rotate-secret`);
      },
    };
  }),
  'GET /api/pro/feed/stream': async (walk) => {
    // Prism answers when the service's answer has ended, and a stream has no end: this one goes past the proxy, and its
    // content type is held against the document by hand.
    await walk.order(ALLOW_MEMOS);
    const over = new AbortController();
    const response = await fetch(`${walk.test.url}/api/pro/feed/stream?lastEventId=0`, {
      headers: { 'x-service-token': walk.ownerToken },
      signal: over.signal,
    });
    const first = await response.body!.getReader().read();
    over.abort();
    const { status, headers } = response;
    const text = new TextDecoder().decode(first.value);
    const documented = operationOf('GET', '/api/pro/feed/stream')!.responses[status]?.content ?? {};
    const isDocumented = Object.keys(documented).some((type) =>
      headers.get('content-type')?.startsWith(type),
    );
    walk.calls.push({
      name: 'GET /api/pro/feed/stream',
      status,
      violations: isDocumented ? [] : [headers.get('content-type')],
      answer: { status, headers, body: text, text },
    });
    await walk.stranger.get('/feed/stream');
  },
};

/** An invite with a token that the step knows: the true one stands in the mail alone. */
async function openInvite(walk: Walk): Promise<{ inviteId: string; token: string }> {
  const email = `${newId('usr')}@northwind.example`;
  const { inviteId } = (await walk.direct.post('/members', { email, role: 'operator' })).body;
  const token = randomBytes(32).toString('base64url');
  await walk.test.rows(
    `update invites set token_hash = encode(sha256($2::bytea), 'hex') where invite_id = $1`,
    [inviteId, token],
  );
  return { inviteId, token };
}

const TEAMS: Record<string, Step> = {
  'GET /api/pro/teams': reading('/teams', '/teams?status=archived&limit=1'),
  'POST /api/pro/teams': async (walk) => {
    await walk.owner.post('/teams', { name: 'Marketing' });
    await walk.owner.post('/teams', { name: 'MARKETING' });
    await (await walk.viewer()).post('/teams', { name: 'Mine' });
  },
  'PATCH /api/pro/teams/{id}': async (walk) => {
    const teamId = await walk.test.createTeam(walk.workspaceId, 'Marketing');
    await walk.owner.send('PATCH', `/teams/${teamId}`, { name: 'Brand' });
    await walk.owner.send('PATCH', `/teams/${newId('team')}`, { name: 'Brand' });
  },
  'POST /api/pro/teams/{id}/archive': async (walk) => {
    const teamId = await walk.test.createTeam(walk.workspaceId, 'Marketing');
    await walk.direct.post('/directives', { directive: MAIL, capo: 'capo_ops', teamId });
    await walk.owner.post(`/teams/${teamId}/archive`, {});
    await walk.owner.post(`/teams/${teamId}/archive`, { moveTo: null });
  },
  'GET /api/pro/teams/{id}/members': async (walk) => {
    const teamId = await walk.test.createTeam(walk.workspaceId, 'Marketing');
    await walk.test.createMember(walk.workspaceId, 'operator', [teamId]);
    await walk.owner.get(`/teams/${teamId}/members`);
    await walk.owner.get(`/teams/${newId('team')}/members`);
  },
  'POST /api/pro/teams/{id}/members': async (walk) => {
    const teamId = await walk.test.createTeam(walk.workspaceId, 'Marketing');
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'operator');
    const { items } = (await walk.direct.get('/members')).body;
    const { email } = items.find((member: { memberId: string }) => member.memberId === memberId);
    for (const address of [email, email, 'jo@northwind.example']) {
      await walk.owner.post(`/teams/${teamId}/members`, { email: address, role: 'operator' });
    }
    // The admin of a team invites a member of the workspace as anyone else.
    const admin = await walk.test.createMember(walk.workspaceId, 'viewer', [teamId]);
    await walk.test.rows(`update team_members set role = 'admin' where member_id = $1`, [admin.memberId]);
    const other = await walk.test.createMember(walk.workspaceId, 'operator');
    const [row] = await walk.test.rows<{ email: string }>(
      'select email from users join members using (user_id) where member_id = $1',
      [other.memberId],
    );
    await (await walk.as(admin)).post(`/teams/${teamId}/members`, { email: row!.email, role: 'operator' });
  },
  'PATCH /api/pro/teams/{id}/members/{uid}': async (walk) => {
    const teamId = await walk.test.createTeam(walk.workspaceId, 'Marketing');
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'operator', [teamId]);
    await walk.owner.send('PATCH', `/teams/${teamId}/members/${memberId}`, { role: 'admin' });
    await walk.owner.send('PATCH', `/teams/${teamId}/members/${newId('mem')}`, { role: 'admin' });
  },
  'DELETE /api/pro/teams/{id}/members/{uid}': async (walk) => {
    const teamId = await walk.test.createTeam(walk.workspaceId, 'Marketing');
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'operator', [teamId]);
    for (let n = 0; n < 2; n++) await walk.owner.delete(`/teams/${teamId}/members/${memberId}`);
  },
  'GET /api/pro/members': reading('/members', '/members?status=removed'),
  'POST /api/pro/members': async (walk) => {
    for (let n = 0; n < 2; n++) {
      await walk.owner.post('/members', { email: 'jo@northwind.example', role: 'operator' });
    }
  },
  'PATCH /api/pro/members/{uid}': async (walk) => {
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'viewer');
    await walk.owner.send('PATCH', `/members/${memberId}`, { role: 'operator' });
    await walk.owner.send('PATCH', `/members/${newId('mem')}`, { role: 'operator' });
  },
  'DELETE /api/pro/members/{uid}': async (walk) => {
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'viewer');
    for (let n = 0; n < 2; n++) await walk.owner.delete(`/members/${memberId}`);
  },
  'GET /api/pro/invites': async (walk) => {
    await openInvite(walk);
    await walk.owner.get('/invites');
    await walk.owner.get('/invites?status=pending&limit=1');
    await (await walk.viewer()).get('/invites');
  },
  'POST /api/pro/invites/accept': async (walk) => {
    const { token } = await openInvite(walk);
    const body = { token, displayName: 'Jo Lind', password: 'correct horse battery' };
    for (let n = 0; n < 2; n++) await walk.anyone.post('/invites/accept', body);
    await walk.anyone.post('/invites/accept', { ...body, token: 'none' });
  },
  'POST /api/pro/invites/{id}/resend': async (walk) => {
    await walk.owner.post(`/invites/${(await openInvite(walk)).inviteId}/resend`);
    await walk.owner.post(`/invites/${newId('inv')}/resend`);
  },
  'DELETE /api/pro/invites/{id}': async (walk) => {
    await walk.owner.delete(`/invites/${(await openInvite(walk)).inviteId}`);
    await walk.owner.delete(`/invites/${newId('inv')}`);
  },
};

/** Sets up a second factor for the owner; `confirmer` sends the code. */
async function secondFactor(
  walk: Walk,
  confirmer: Client,
): Promise<{ password: string; recoveryCodes: string[] }> {
  const { password } = await walk.password();
  const begun = await walk.session.post('/second-factor', { password });
  const code = new TOTP({ secret: Secret.fromBase32(begun.body.secret) }).generate();
  const { headers, body } = await confirmer.post('/second-factor/confirm', { code });
  // Another cookie for the same session.
  const [, secret] = /^consigliere_session=([^;]+);/.exec(headers.get('set-cookie')!)!;
  Object.assign(walk.session, { secret });
  return { password, recoveryCodes: body.recoveryCodes };
}

/** What the admin area has alone; `reading` and the rest call below `/api/admin` there. */
const ADMIN: Record<string, Step> = {
  'GET /api/admin/session': reading('/session'),
  'POST /api/admin/session': async (walk) => {
    const account = await walk.password();
    await walk.anyone.post('/session', account);
    await walk.anyone.post('/session', { ...account, workspaceId: walk.workspaceId });
    await walk.anyone.post('/session', { ...account, password: 'wrong' });
  },
  'DELETE /api/admin/session': async (walk) => {
    await walk.owner.delete('/session');
    await walk.stranger.delete('/session');
  },
  'POST /api/admin/session/workspace': async (walk) => {
    await walk.owner.post('/session/workspace', { workspaceId: `wks_${'0'.repeat(26)}` });
    await walk.owner.post('/session/workspace', { workspaceId: walk.workspaceId });
  },
  'POST /api/admin/operator-token': async (walk) => {
    await walk.owner.post('/operator-token');
    await walk.owner.post('/operator-token', undefined, { 'X-CSRF-Token': 'of nobody' });
  },
  'GET /api/admin/sessions': reading('/sessions', '/sessions?limit=1&offset=0'),
  'DELETE /api/admin/sessions/{id}': async (walk) => {
    const { memberId } = await walk.test.createMember(walk.workspaceId, 'operator');
    const { sessionId } = (await (await walk.test.signIn(memberId)).get('/session')).body;
    for (let n = 0; n < 2; n++) await walk.owner.delete(`/sessions/${sessionId}`);
  },
  'PUT /api/admin/password': async (walk) => {
    const { password: currentPassword } = await walk.password();
    const newPassword = 'nineteen pears on a slow train';
    await walk.owner.put('/password', { currentPassword: newPassword, newPassword });
    await walk.owner.put('/password', { currentPassword, newPassword: 'password' });
    await walk.owner.put('/password', { currentPassword, newPassword });
    await walk.stranger.put('/password', { currentPassword, newPassword });
  },
  'POST /api/admin/password/forgotten': async (walk) => {
    await walk.anyone.post('/password/forgotten', { email: (await walk.password()).email });
    await walk.anyone.post('/password/forgotten', { email: 'nobody' });
  },
  'POST /api/admin/password/reset': async (walk) => {
    const { email } = await walk.password();
    const token = randomBytes(32).toString('base64url');
    await walk.test.rows(
      `insert into password_resets (reset_id, email, token_hash, requested_at, expires_at)
       values ($1, $2, encode(sha256($3::bytea), 'hex'), now(), now() + interval '30 minutes')`,
      [newId('rst'), email, token],
    );
    const body = { token, newPassword: 'nineteen pears on a slow train' };
    for (let n = 0; n < 2; n++) await walk.anyone.post('/password/reset', body);
    await walk.anyone.post('/password/reset', { ...body, token: 'none' });
    await walk.anyone.post('/password/reset', { token, newPassword: 'short' });
  },
  'GET /api/admin/second-factor': reading('/second-factor'),
  'POST /api/admin/second-factor': async (walk) => {
    const { password } = await walk.password();
    await walk.owner.post('/second-factor', { password });
    await walk.owner.post('/second-factor', { password: 'wrong' });
  },
  'POST /api/admin/second-factor/confirm': async (walk) => {
    await walk.owner.post('/second-factor/confirm', { code: '123456' });
    await secondFactor(walk, walk.owner);
    await walk.owner.post('/second-factor/confirm', { code: '123456' });
  },
  'POST /api/admin/second-factor/verify': async (walk) => {
    await walk.owner.post('/second-factor/verify', { code: '123456' });
    const { recoveryCodes } = await secondFactor(walk, walk.session);
    await walk.owner.post('/second-factor/verify', { code: 'none' });
    await walk.owner.post('/second-factor/verify', { code: recoveryCodes[0]! });
  },
  'POST /api/admin/second-factor/recovery-codes': async (walk) => {
    const { password, recoveryCodes } = await secondFactor(walk, walk.session);
    const body = { password, code: recoveryCodes[0]! };
    for (let n = 0; n < 2; n++) await walk.owner.post('/second-factor/recovery-codes', body);
  },
  'DELETE /api/admin/second-factor': async (walk) => {
    const { password, recoveryCodes } = await secondFactor(walk, walk.session);
    const remove = (code: string) => walk.owner.send('DELETE', '/second-factor', { password, code });
    await remove('123456');
    await remove(recoveryCodes[0]!);
    await remove(recoveryCodes[1]!);
  },
  'GET /api/admin/workspace': reading('/workspace'),
  'PATCH /api/admin/workspace': async (walk) => {
    await walk.owner.send('PATCH', '/workspace', { name: 'Northwind Traders' });
    await (await walk.viewer()).send('PATCH', '/workspace', { name: 'Mine' });
  },
  'GET /api/admin/partner-secret': async (walk) => {
    await walk.owner.get('/partner-secret');
    await rotateSecret(walk.test, walk.workspaceId);
    await walk.owner.get('/partner-secret');
  },
  'POST /api/admin/partner-secret/rotate': async (walk) => {
    for (let n = 0; n < 2; n++) await walk.owner.post('/partner-secret/rotate');
    await (await walk.viewer()).post('/partner-secret/rotate');
  },
};

const LOCAL: Record<string, Step> = {
  'POST /api/pro/subscription/verify': async (walk) => {
    await walk.owner.post('/subscription/verify');
    await walk.owner.post('/subscription/verify', { licenseKey: 'CLIC1.none.none' });
    await (await walk.viewer()).post('/subscription/verify', { licenseKey: 'CLIC1.none.none' });
  },
  'POST /api/local/hydrate': async (walk) => {
    const deviceId = 'mira-laptop';
    const { cursor } = (await walk.owner.post('/api/local/hydrate', { deviceId })).body;
    await walk.owner.post('/api/local/hydrate', { deviceId, since: cursor });
    await walk.owner.post('/api/local/hydrate', { deviceId: 'another', since: cursor });
  },
};

const FAMILY: Record<string, Step> = {
  'POST /api/pro/consigliere/chat': async (walk) => {
    const { conversationId } = (await walk.owner.post('/consigliere/chat', { message: 'What waits for me?' }))
      .body;
    const message = 'File a memo: "The delivery delays end on Friday."';
    const key = { 'Idempotency-Key': 'walk-chat' };
    await walk.owner.post('/consigliere/chat', { message, conversationId }, key);
    await walk.owner.post('/consigliere/chat', { message: 'Hello' }, key);
    await walk.owner.post('/consigliere/chat', { message, conversationId: newId('cnv') });
    await (await walk.viewer()).post('/consigliere/chat', { message });
  },
  'GET /api/pro/consigliere/chat': async (walk) => {
    await walk.direct.post('/consigliere/chat', { message: 'How much revenue this week?' });
    await walk.owner.get('/consigliere/chat?limit=1');
    await walk.stranger.get('/consigliere/chat');
  },
  'GET /api/pro/consigliere/chat/{conversationId}': async (walk) => {
    const { conversationId } = (
      await walk.direct.post('/consigliere/chat', { message: 'Which signals are open?' })
    ).body;
    await walk.owner.get(`/consigliere/chat/${conversationId}`);
    await walk.owner.get(`/consigliere/chat/${conversationId}?before=2&limit=1`);
    await walk.owner.get(`/consigliere/chat/${newId('cnv')}`);
  },
  'GET /api/pro/family/report': async (walk) => {
    await walk.executed(MEMO);
    await walk.ready();
    const { date } = (await walk.owner.get('/family/report')).body;
    await walk.owner.send('GET', `/family/report?date=${date}`, undefined, { Accept: 'text/plain' });
    await walk.owner.get('/family/report?date=2999-01-01');
    await walk.stranger.get('/family/report');
  },
  'POST /api/pro/family/comment': async (walk) => {
    const { reportId } = (await walk.direct.get('/family/report')).body;
    await walk.owner.post('/family/comment', { reportId, body: 'The carrier was late.' });
    await walk.owner.post('/family/comment', {
      reportId,
      sectionKey: 'capo_ops',
      body: 'I have called them.',
    });
    await walk.owner.post('/family/comment', { reportId: 'rpt_01khqmcr00k2v9m5d8q1tzxwb3', body: 'Where?' });
    await (await walk.viewer()).post('/family/comment', { reportId, body: 'Mine.' });
  },
  'GET /api/pro/family/comment': async (walk) => {
    const { reportId } = (await walk.direct.get('/family/report')).body;
    await walk.direct.post('/family/comment', { reportId, body: 'The carrier was late.' });
    await walk.owner.get(`/family/comment?reportId=${reportId}`);
    await walk.owner.get('/family/comment?limit=1');
    await walk.owner.get('/family/comment?reportId=rpt_01khqmcr00k2v9m5d8q1tzxwb3');
  },
};

/** The workspace's name, and that of an export which was read to its end: what its deletion asks for. */
async function exported(walk: Walk): Promise<{ name: string; confirm: string }> {
  await walk.session.get('/workspace/export');
  const { name } = (await walk.session.get('/workspace')).body;
  return { name, confirm: name };
}

const TENANCY: Record<string, Step> = {
  'GET /api/admin/workspaces': async (walk) => {
    const first = await walk.first();
    await first.get('/workspaces');
    await first.get('/workspaces?limit=1&offset=0');
    await walk.owner.get('/workspaces');
  },
  'POST /api/admin/workspaces': async (walk) => {
    const first = await walk.first();
    const body = { name: 'Northwind Retail', ownerEmail: 'ines@northwind.example', ownerName: 'Ines Marlow' };
    await first.post('/workspaces', { ...body, tier: 'pro', timezone: 'Europe/Vienna', currency: 'EUR' });
    await first.post('/workspaces', body);
    await walk.owner.post('/workspaces', body);
  },
  'POST /api/admin/workspaces/{workspaceId}/invite': async (walk) => {
    const first = await walk.first();
    const asked = { name: 'Northwind Wholesale', ownerEmail: 'wrong@northwind.example' };
    const { workspace } = (await (await walk.test.signIn()).post('/workspaces', asked)).body;
    const body = { ownerEmail: 'right@northwind.example', ownerName: 'Ines Marlow' };
    await first.post(`/workspaces/${workspace.workspaceId}/invite`, body);
    await first.post(`/workspaces/${walk.workspaceId}/invite`, body);
    await first.post(`/workspaces/${newId('wks')}/invite`, body);
  },
  'GET /api/admin/workspace/export': async (walk) => {
    await walk.owner.get('/workspace/export');
    await (await walk.viewer()).get('/workspace/export');
  },
  'GET /api/admin/workspace/deletion': async (walk) => {
    await walk.owner.get('/workspace/deletion');
    await walk.session.post('/workspace/deletion', await exported(walk));
    await walk.owner.get('/workspace/deletion');
    await (await walk.viewer()).get('/workspace/deletion');
  },
  'POST /api/admin/workspace/deletion': async (walk) => {
    const { name } = (await walk.session.get('/workspace')).body;
    await walk.owner.post('/workspace/deletion', { name, confirm: name });
    await exported(walk);
    await walk.owner.post('/workspace/deletion', { name, confirm: 'Another' });
    for (let n = 0; n < 2; n++) await walk.owner.post('/workspace/deletion', { name, confirm: name });
  },
  'DELETE /api/admin/workspace/deletion': async (walk) => {
    await walk.session.post('/workspace/deletion', await exported(walk));
    for (let n = 0; n < 2; n++) await walk.owner.delete('/workspace/deletion');
  },
};

function each(spellings: string[], steps: (spelling: string) => Record<string, Step>): Record<string, Step> {
  return Object.assign({}, ...spellings.map(steps));
}

/** What is called for each operation of the document: with success, and refused for a typical reason. */
export const STEPS: Record<string, Step> = {
  ...SIMPLE,
  ...DIRECTIVES,
  ...APPROVALS,
  ...GUARDIAN,
  ...ORDERS,
  ...EVALS,
  ...REPORTS,
  ...PACKS,
  ...TOOLS,
  ...ACTION_REQUESTS,
  ...QUESTIONS,
  ...REST,
  ...TEAMS,
  ...ADMIN,
  ...LOCAL,
  ...FAMILY,
  ...TENANCY,
};

/** What stands below `/api/pro` too is called below `/api/admin` in the same step. */
export const stepOf = (name: string): string =>
  name in STEPS ? name : name.replace(' /api/admin/', ' /api/pro/');
