import { PLAN } from '../e2e/approvals/question-rows.js';
import { SCHEDULE } from '../e2e/schedules/schedule-desk.js';
import { newId } from '../../src/platform/kernel/ids.js';
import { manifestOf, newPublisher, publishersOf, signedPack } from '../support/skill-packs.js';
import type { Act, Acts } from './matrix.js';
import { ofAny, ofEveryone, ofRow, ofWorkspace, type Place } from './matrix-rights.js';
import type { Row, RowKind } from './matrix-rows.js';

/** Records that carry a team or none. */
const RECORDS: readonly Place[] = ['own team', 'other team', 'no team', 'other workspace'];
/** Teams themselves. */
const TEAMS: readonly Place[] = ['own team', 'other team', 'other workspace'];
/** What the workspace has as a whole. */
const WHOLE: readonly Place[] = ['the workspace'];
const WHOLE_OR_FOREIGN: readonly Place[] = ['the workspace', 'other workspace'];

const MEMO = 'File this memo for the board: The delivery delays end on Friday.';
const NOTE = { title: 'Note', body: 'Jane was told.' };
const NOTHING = { actionTypes: ['email.send'], fields: { 'params.subject': { $eq: 'none' } } };
/** Nothing listens there, and nothing is sent: the worker has stopped. */
const RECEIVER = 'http://127.0.0.1:9/hook';
/** Signs the packs that are installed. */
const PUBLISHER = newPublisher('acme');
export const SKILL_PACK_PUBLISHERS = publishersOf(PUBLISHER);
const PACK = signedPack(manifestOf({ name: 'of-the-matrix', skills: [] }), PUBLISHER);

/** Receivers of this machine that destinations may name. */
export const OUTBOUND_ALLOW = '127.0.0.1:9';

const address = () => `${newId('usr')}@example.com`;
const teamOf = ({ id }: Row) => (id === '' ? {} : { teamId: id });

/** What every member of the workspace may read. */
const READ: Act = { right: ofWorkspace('viewer'), places: WHOLE };
const ADMINISTER: Act = { right: ofWorkspace('admin'), places: WHOLE };

const readRecord = (row: RowKind): Act => ({ right: ofRow('viewer'), row, places: RECORDS });
const change = (least: 'operator' | 'admin', row: RowKind, request?: Act['request']): Act => ({
  right: ofRow(least),
  row,
  places: RECORDS,
  spends: true,
  ...(request && { request }),
});
/** Only the token that asked may: nobody in the matrix has it. */
const ofAsker = (request: Act['request']): Act => ({
  right: ofAny('operator'),
  row: 'action request',
  places: RECORDS,
  lacks: 'FORBIDDEN',
  ...(request && { request }),
});
const withBody = (body: unknown) => () => ({ body });

/** The outcome of the one decision in a list. */
const statusOf: Act['statusOf'] = ({ body }) => body.results[0].error?.status ?? 200;

/** A new record for a team that the request names, or leaves out. */
const create = (least: 'operator' | 'admin', body: object): Act => ({
  right: ofRow(least, 'operator'),
  row: 'team',
  places: [...TEAMS, 'by default'],
  request: (row) => ({ body: { ...body, ...teamOf(row) } }),
});
const DENIAL = { name: 'Of the matrix', effect: 'deny', match: NOTHING };
const PERMISSION = { name: 'Of the matrix', effect: 'allow', match: { actionTypes: ['document.file'] } };
/** Null is said and not left out: it is for every team. */
const forEveryone = (least: 'operator' | 'admin', body: object): Act => ({
  right: { ...ofEveryone(least), admits: 'operator' },
  places: WHOLE,
  request: withBody({ ...body, teamId: null }),
});

/** An eval of a record; it leaves one more run each time. */
const run = (targetEntityType: string, row: RowKind): Act => ({
  right: ofRow('operator'),
  row,
  places: RECORDS,
  request: ({ id }) => ({ body: { name: 'Of the matrix', targetEntityType, targetEntityId: id } }),
});

const FORGET_DESTINATIONS: Act['after'] = ({ test }) =>
  test.rows('update webhook_destinations set deleted_at = now() where url = $1', [RECEIVER]);

const destinations = (spelling: string): Acts => {
  const one = (row: RowKind, more: Partial<Act> = {}): Act => ({
    right: ofWorkspace('admin'),
    row,
    places: WHOLE_OR_FOREIGN,
    spends: true,
    ...more,
  });
  return {
    [`GET ${spelling}`]: ADMINISTER,
    [`PATCH ${spelling}/:id`]: one('destination', { request: withBody({ description: 'Of the matrix' }) }),
    [`DELETE ${spelling}/:id`]: one('destination'),
    [`GET ${spelling}/:id/deliveries`]: one('destination', { spends: false }),
    [`POST ${spelling}/:id/test`]: one('destination'),
    [`POST ${spelling}/:id/rotate-secret`]: one('destination', { request: withBody({}) }),
    [`POST ${spelling}/:id/resume`]: one('paused destination'),
  };
};

const ofMemberOfTeam = (body?: object): Act => ({
  right: ofRow('admin'),
  row: 'member of a team',
  places: TEAMS,
  spends: true,
  request: ({ id, teamId }) => ({ params: { id: teamId!, uid: id }, ...(body && { body }) }),
});

/** A member with this role; one who is an admin, or becomes one, takes an owner. */
const ofMember = (what: string, row: RowKind, least: 'admin' | 'owner', body?: object): Act => ({
  what,
  right: ofWorkspace(least, 'admin'),
  row,
  places: WHOLE_OR_FOREIGN,
  spends: true,
  ...(body && { request: withBody(body) }),
});

const ofInvite = [
  { what: 'an operator', right: ofRow('admin'), row: 'invite', places: RECORDS, spends: true },
  {
    what: 'an admin',
    right: { ...ofRow('owner'), admits: 'admin' },
    row: 'invite of an admin',
    places: ['no team'],
    spends: true,
  },
] satisfies Act[];

const killed: Act['before'] = ({ desk }) => desk.kill();
const reverted: Act['after'] = ({ desk }) => desk.revert();

const kill: Act = { right: ofAny('operator'), places: WHOLE, after: reverted };

const capo = { params: { role: 'capo_product' } };
const paused: Act['before'] = ({ desk }) => desk.client.post('/agents/capo_product/pause');
const resumed: Act['after'] = ({ desk }) => desk.client.post('/agents/capo_product/resume');

/** Every act of `/api/pro`, with a valid request for it. */
export const ACTS: Acts = {
  'GET /agents': READ,
  'POST /agents/:role/pause': { ...ADMINISTER, request: () => capo, after: resumed },
  'POST /agents/:role/resume': { ...ADMINISTER, request: () => capo, before: paused },
  'GET /engines': READ,
  'GET /profile': READ,
  'GET /profile/notifications': READ,
  'PUT /profile/notifications': { ...READ, request: withBody({ approvals: 'digest' }) },
  'GET /bootstrap': READ,
  'GET /context': READ,
  'GET /metrics': READ,
  'GET /kpi': [
    { ...READ, what: 'all that the caller may see' },
    {
      what: 'one team',
      right: ofRow('viewer'),
      row: 'team',
      places: TEAMS,
      request: ({ id }) => ({ query: { teamId: id } }),
    },
  ],
  'GET /connectors': READ,
  'GET /connectors/:connectorId/checks': {
    right: ofWorkspace('viewer'),
    row: 'connector',
    places: WHOLE_OR_FOREIGN,
  },
  'POST /consigliere/chat': {
    right: ofAny('operator'),
    places: WHOLE,
    request: withBody({ message: 'What waits for me?' }),
  },
  'GET /consigliere/chat': READ,
  // Whose it is reads it in test/e2e/chat.
  'GET /consigliere/chat/:conversationId': {
    right: ofWorkspace('viewer'),
    row: 'conversation',
    places: ['other workspace'],
    isPersonal: true,
  },
  'GET /family/report': READ,
  'POST /family/comment': {
    right: ofRow('operator'),
    row: 'family report',
    places: RECORDS,
    request: ({ id }) => ({ body: { reportId: id, body: 'The carrier was late.' } }),
  },
  'GET /family/comment': READ,
  'GET /feed': READ,
  'GET /feed/stream': READ,
  'GET /audit-feed': READ,
  'GET /audit-feed/sent': READ,
  'GET /audit-feed/head': READ,
  'GET /audit-feed/verify': READ,
  'GET /audit-feed/keys': READ,
  'GET /partner/avatar': READ,
  'GET /partner/intelligence': READ,

  'GET /directives': READ,
  'POST /directive': create('operator', { text: MEMO }),
  'POST /directives': create('operator', { directive: MEMO, capo: 'capo_ops' }),
  'GET /directives/:directiveId': readRecord('directive'),
  'POST /directives/:directiveId/cancel': change('operator', 'directive'),
  'POST /directives/:directiveId/retry': change('operator', 'failed directive'),
  'GET /schedules': READ,
  'POST /schedules': create('operator', SCHEDULE),
  'GET /schedules/:scheduleId': readRecord('schedule'),
  'PATCH /schedules/:scheduleId': change('operator', 'schedule', withBody({ name: 'Renamed' })),
  'DELETE /schedules/:scheduleId': change('operator', 'schedule'),
  'POST /schedules/:scheduleId/run': change('operator', 'schedule'),
  'GET /work-packets': READ,
  'GET /work-packets/:id': readRecord('work packet'),
  'POST /work-packets/:id/undo': change('admin', 'work packet', withBody({ reason: 'It was wrong.' })),
  'GET /documents': READ,
  'GET /documents/:id': readRecord('document'),

  'GET /approvals': READ,
  'POST /approvals': [
    {
      ...change('operator', 'approval', ({ id }) => ({ body: { approvalId: id, decision: 'approve' } })),
      what: 'approve',
      statusOf,
    },
    {
      ...change('operator', 'approval', ({ id }) => ({
        body: { decisions: [{ approvalId: id, decision: 'reject', feedback: 'No.' }] },
      })),
      what: 'reject',
      statusOf,
    },
  ],
  'GET /approvals/contents': {
    ...readRecord('approval'),
    request: ({ id }) => ({ query: { ids: id } }),
    // Those that somebody may not see are left out.
    statusOf: ({ body }) => (body.items.length === 0 ? 404 : 200),
  },
  'GET /approvals/:approvalId': readRecord('approval'),
  'PATCH /approvals/:approvalId': change('operator', 'approval', ({ contentHash }) => ({
    body: { add: [{ action: { type: 'document.file', params: NOTE } }] },
    headers: { 'If-Match': contentHash! },
  })),
  'POST /approvals/:approvalId/approve': change('operator', 'approval'),
  'POST /approvals/:approvalId/reject': [
    { ...change('operator', 'approval', withBody({ feedback: 'No.' })), what: 'for good' },
    {
      ...change('operator', 'approval', withBody({ feedback: 'Shorter.', revise: true })),
      what: 'for another draft',
    },
  ],

  'GET /signals': READ,
  'GET /signals/:signalId': readRecord('signal'),
  'POST /ack': change('operator', 'signal', ({ id }) => ({ body: { signalId: id } })),
  'GET /escalations': READ,
  'GET /escalations/:escalationId': readRecord('escalation'),
  'POST /escalations/decide': change('operator', 'escalation', ({ id }) => ({
    body: { escalationId: id, decision: 'dismiss' },
  })),
  'GET /revenue-events': READ,
  'POST /revenue-events': create('operator', { amount: 12, currency: 'EUR', source: 'shop' }),

  'GET /standing-orders': READ,
  'POST /standing-orders': [
    { ...create('operator', DENIAL), what: 'deny' },
    { ...create('admin', PERMISSION), what: 'allow' },
    { ...forEveryone('operator', DENIAL), what: 'deny for every team' },
    { ...forEveryone('admin', PERMISSION), what: 'allow for every team' },
  ],
  'GET /standing-orders/:standingOrderId': readRecord('order that allows'),
  'POST /standing-orders/:standingOrderId/activate': [
    { ...change('admin', 'order that was paused', withBody({})), what: 'what can be undone' },
    {
      ...change('admin', 'order that only an owner activates', withBody({ acknowledge: true, version: 1 })),
      right: ofRow('owner', 'admin'),
      what: 'what cannot be undone',
    },
    { ...change('admin', 'order that allows', withBody({ shadow: true })), what: 'only to try it out' },
  ],
  'PATCH /standing-orders/:standingOrderId': [
    { ...change('operator', 'order that denies', withBody({ name: 'Renamed' })), what: 'one that denies' },
    {
      ...change('admin', 'order that denies', withBody({ capos: ['capo_ops'] })),
      right: ofRow('admin', 'operator'),
      what: 'so that it denies less',
    },
    {
      ...change('admin', 'order that allows', withBody({ name: 'Renamed' })),
      right: ofRow('admin', 'operator'),
      what: 'one that allows',
    },
  ],
  'GET /standing-orders/:standingOrderId/versions': readRecord('order that allows'),
  'GET /standing-orders/:standingOrderId/versions/:version': {
    ...readRecord('order that allows'),
    request: ({ id }) => ({ params: { standingOrderId: id, version: '1' } }),
  },
  'POST /standing-orders/:standingOrderId/rollback': change(
    'operator',
    'order that denies',
    withBody({ version: 1 }),
  ),
  'POST /standing-orders/:standingOrderId/pause': [
    { ...change('operator', 'order that allows'), what: 'one that allows' },
    {
      ...change('admin', 'order that denies'),
      right: ofRow('admin', 'operator'),
      what: 'one that denies',
    },
  ],
  'POST /standing-orders/:standingOrderId/simulate': {
    right: ofRow('operator'),
    row: 'order that allows',
    places: RECORDS,
  },
  'GET /standing-orders/suggestions': READ,
  'POST /standing-orders/suggestions/:suggestionId/accept': change('admin', 'suggestion'),
  'POST /standing-orders/suggestions/:suggestionId/dismiss': change('operator', 'suggestion'),
  'DELETE /standing-orders/:standingOrderId': change('admin', 'order that denies'),

  'GET /action-requests': READ,
  'POST /action-requests': create('operator', { tool: 'crm.refund', params: {} }),
  'GET /action-requests/:actionRequestId': readRecord('action request'),
  'POST /action-requests/:actionRequestId/cancel': change('operator', 'action request'),
  'POST /action-requests/:actionRequestId/consume': ofAsker(({ contentHash }) => ({
    body: { attempt: 'b3f1c7f0a9d84e6f8a1f2c3d4e5f6071', paramsHash: contentHash },
  })),
  'POST /action-requests/:actionRequestId/result': ofAsker(
    withBody({ outcome: 'succeeded', summary: 'Refunded.' }),
  ),

  'GET /questions': READ,
  'POST /questions': create('operator', { title: 'Which plan?', answerSchema: PLAN }),
  'GET /questions/:questionId': readRecord('question'),
  'POST /questions/:questionId/cancel': change('operator', 'question'),
  'POST /approvals/:approvalId/respond': change(
    'operator',
    'approval of a question',
    withBody({ answer: { plan: 'pro' } }),
  ),

  'GET /tools': READ,
  'POST /tools': {
    right: ofAny('operator'),
    places: WHOLE,
    request: () => ({ body: { name: newId('req'), paramsSchema: { type: 'object' } } }),
  },
  'GET /tools/:name': { right: ofWorkspace('viewer'), row: 'tool', places: WHOLE_OR_FOREIGN },
  'PATCH /tools/:name': [
    {
      what: 'pause',
      right: ofAny('operator'),
      row: 'tool',
      places: WHOLE_OR_FOREIGN,
      spends: true,
      request: withBody({ status: 'paused' }),
    },
    {
      what: 'change',
      right: { ...ofEveryone('admin'), admits: 'operator' },
      row: 'tool',
      places: WHOLE_OR_FOREIGN,
      spends: true,
      request: ({ contentHash }) => ({ body: { risk: 'low' }, headers: { 'If-Match': contentHash! } }),
    },
  ],
  'DELETE /tools/:name': {
    right: ofWorkspace('admin'),
    row: 'tool',
    places: WHOLE_OR_FOREIGN,
    spends: true,
  },

  'GET /skill-packs': READ,
  'POST /skill-packs': { ...ADMINISTER, request: withBody(PACK) },
  'GET /skill-packs/:packId': {
    right: ofWorkspace('viewer'),
    row: 'skill pack',
    places: WHOLE_OR_FOREIGN,
  },
  'DELETE /skill-packs/:packId': {
    right: ofWorkspace('admin'),
    row: 'skill pack',
    places: WHOLE_OR_FOREIGN,
    spends: true,
  },
  'POST /subscription/verify': [
    { ...READ, what: 'check' },
    {
      right: ofWorkspace('admin', 'viewer'),
      places: WHOLE,
      what: 'install',
      request: withBody({ licenseKey: 'CLIC1.of.nobody' }),
    },
  ],
  'POST /hydrate': { ...READ, request: withBody({ deviceId: 'laptop' }) },
  'GET /settings': READ,
  'GET /setup': ADMINISTER,
  'POST /setup/test-mail': ADMINISTER,
  'POST /setup/test-model': ADMINISTER,
  'PUT /settings': { ...ADMINISTER, request: withBody({ presence: 'away' }) },
  'GET /tokens': ADMINISTER,
  'POST /tokens': [
    { ...ADMINISTER, what: 'for oneself', request: withBody({ name: 'Ledger' }) },
    {
      ...ADMINISTER,
      what: 'for a viewer',
      row: 'viewer',
      places: WHOLE_OR_FOREIGN,
      request: ({ id }) => ({ body: { name: 'Ledger', memberId: id } }),
    },
  ],
  'DELETE /tokens/:id': [
    { ...ofMember('of a viewer', 'token of a viewer', 'admin') },
    { ...ofMember('of an owner', 'token of an owner', 'admin') },
  ],
  // Members pause their own in test/e2e/workspaces.
  'POST /tokens/:id/pause': {
    right: ofWorkspace('admin', 'viewer'),
    row: 'token of an owner',
    places: WHOLE_OR_FOREIGN,
    spends: true,
  },
  'POST /tokens/:id/resume': [
    { ...ofMember('of a viewer', 'token of a viewer', 'admin') },
    { ...ofMember('of an owner', 'token of an owner', 'owner') },
  ],
  'POST /tokens/:id/rotate': [
    { ...ofMember('of a viewer', 'token of a viewer', 'admin') },
    { ...ofMember('of an owner', 'token of an owner', 'owner') },
  ],

  'GET /teams': READ,
  'POST /teams': { ...ADMINISTER, request: () => ({ body: { name: newId('team') } }) },
  'PATCH /teams/:id': {
    ...ADMINISTER,
    row: 'team',
    places: TEAMS,
    request: () => ({ body: { name: newId('team') } }),
  },
  'POST /teams/:id/archive': {
    ...ADMINISTER,
    row: 'team',
    places: TEAMS,
    spends: true,
    request: withBody({ moveTo: null }),
  },
  'GET /teams/:id/members': { right: ofRow('viewer'), row: 'team', places: TEAMS },
  'POST /teams/:id/members': {
    right: ofRow('admin'),
    row: 'team',
    places: TEAMS,
    request: () => ({ body: { email: address(), role: 'operator' } }),
  },
  'PATCH /teams/:id/members/:uid': ofMemberOfTeam({ role: 'operator' }),
  'DELETE /teams/:id/members/:uid': ofMemberOfTeam(),
  'GET /members': ADMINISTER,
  'POST /members': [
    {
      ...ADMINISTER,
      what: 'an operator',
      request: () => ({ body: { email: address(), role: 'operator' } }),
    },
    {
      right: ofWorkspace('owner', 'admin'),
      places: WHOLE,
      what: 'an admin',
      request: () => ({ body: { email: address(), role: 'admin' } }),
    },
  ],
  'PATCH /members/:uid': [
    ofMember('a viewer into an operator', 'viewer', 'admin', { role: 'operator' }),
    ofMember('a viewer into an admin', 'viewer', 'owner', { role: 'admin' }),
    ofMember('an admin into a viewer', 'admin', 'owner', { role: 'viewer' }),
  ],
  'DELETE /members/:uid': [ofMember('a viewer', 'viewer', 'admin'), ofMember('an admin', 'admin', 'owner')],
  'GET /invites': { right: ofAny('admin'), places: WHOLE },
  'POST /invites/:id/resend': ofInvite,
  'DELETE /invites/:id': ofInvite,

  'POST /webhooks': {
    ...ADMINISTER,
    request: withBody({ event: 'report.daily', url: RECEIVER, secret: 'a secret of Acme 2026' }),
    after: FORGET_DESTINATIONS,
  },
  'POST /partner/webhooks': {
    ...ADMINISTER,
    request: withBody({ description: 'Ledger', url: RECEIVER }),
    after: FORGET_DESTINATIONS,
  },
  ...destinations('/webhooks'),
  ...destinations('/partner/webhooks'),
  'GET /deliveries/:id': { ...ADMINISTER, row: 'delivery', places: WHOLE_OR_FOREIGN },
  'POST /deliveries/:id/redeliver': { ...ADMINISTER, row: 'delivery', places: WHOLE_OR_FOREIGN },

  'POST /evals/run': [
    {
      ...run('standing_order', 'order that allows'),
      what: 'an order',
    },
    {
      ...run('workflow_candidate', 'work packet'),
      what: 'a work packet',
    },
    {
      ...create('operator', {
        name: 'Of the matrix',
        targetEntityType: 'skill',
        targetEntityId: 'price-quote',
        definition: {},
      }),
      what: 'a skill that is not installed',
    },
  ],
  'GET /reports': ADMINISTER,
  'GET /reports/daily': READ,
  'GET /reports/config': ADMINISTER,
  'PUT /reports/config': { ...ADMINISTER, request: withBody({ format: 'json' }) },
  'GET /reports/custom-sections': ADMINISTER,
  'POST /reports/custom-sections': {
    ...ADMINISTER,
    request: withBody({ title: 'Pipeline', directive: MEMO, capo: 'capo_revenue' }),
  },
  'DELETE /reports/custom-sections/:sectionId': {
    ...ADMINISTER,
    row: 'report section',
    places: WHOLE_OR_FOREIGN,
    spends: true,
  },
  'POST /reports/:reportId/resend': {
    ...ADMINISTER,
    row: 'report',
    places: WHOLE_OR_FOREIGN,
    lacks: 'REPORT_MAIL_OFF',
  },
  'GET /evals': READ,
  'GET /evals/:evalRunId': readRecord('eval run'),

  'POST /guardian/preflight': [
    { ...create('operator', { directive: MEMO, capo: 'capo_ops' }), what: 'a directive' },
    { ...create('operator', { action: { type: 'document.file', params: NOTE } }), what: 'an action' },
  ],
  'GET /guardian': READ,
  'PUT /guardian/mode': { ...ADMINISTER, request: withBody({ mode: 'guardrailed' }) },
  'POST /guardian/kill-switch': kill,
  'POST /guardian/killswitch': kill,
  'POST /guardian/revert': [
    { ...ADMINISTER, what: 'resume', before: killed },
    { ...ADMINISTER, what: 'restore, as a dry run', request: withBody({ mode: 'restore', dryRun: true }) },
    {
      ...ADMINISTER,
      what: 'compensate, as a dry run',
      request: withBody({ mode: 'compensate', dryRun: true }),
    },
  ],
  'GET /guardian/reverts/:revertId': {
    right: ofWorkspace('admin'),
    row: 'revert',
    places: WHOLE_OR_FOREIGN,
  },
  'POST /guardian/checkpoint': {
    right: ofWorkspace('operator'),
    places: WHOLE,
    request: withBody({ label: 'Now' }),
  },
  'GET /guardian/checkpoint': READ,
  'GET /guardian/checkpoint/:checkpointId': {
    right: ofWorkspace('viewer'),
    row: 'checkpoint',
    places: WHOLE_OR_FOREIGN,
  },
};
