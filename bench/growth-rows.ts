/** Which rows to make of each table: the numbers `from` to `to`, all of one workspace. */
export interface RowRange {
  workspaceId: string;
  from: number;
  to: number;
  /** Orders are numbered behind this one, where several workspaces have some. */
  firstOrder?: number;
  /** True: every text and structure as large as the service lets it become. */
  heavy?: boolean;
}

/** Statements that make the rows of one table. */
export interface TableRows {
  table: string;
  text: string;
}

/** Days over which the rows are spread, the newest now: a third of them fall within the 30 days of `/metrics`. */
const DAYS = 90;
const ORDERS = 200;

/** A character that takes six bytes in JSON, the most that one can. */
const LARGEST = `E'\\x01'`;

/** Of a work packet as its approval has it. */
const ACTION = `'{"action": {"type": "document.file", "target": null, "params": {"title": "Note"}}}'::jsonb`;

/**
 * Rows as years of work would leave them: most of it done, some of it open. Written past the program, since handing in
 * half a million directives would take a day.
 */
export function growthRows({ workspaceId, from, to, firstOrder = 0, heavy = false }: RowRange): TableRows[] {
  const text = (length: number, light: string) => (heavy ? `repeat(${LARGEST}, ${length})` : light);
  const object = (length: number) =>
    heavy ? `jsonb_build_object('x', repeat(${LARGEST}, ${length}))` : `'{"customer": "Acme"}'::jsonb`;
  const id = (prefix: string) => `'${prefix}_' || lpad(n::text, 26, '0')`;
  const at = `now() - (n % 500000) * interval '${DAYS} days' / 500000`;
  const actor = `'{"type": "member", "id": "mem_00000000000000000000000000", "name": "Olga", "via": "api"}'::jsonb`;
  const capo = `(array['ceo', 'capo_marketing', 'capo_revenue', 'capo_ops', 'capo_product'])[1 + n % 5]`;
  const own = `'${workspaceId}'`;
  const each = `from generate_series(${from}, ${to}) n`;
  // One in five hundred is open, as after a busy day.
  const open = 'n % 500 = 0';
  return [
    {
      table: 'directives',
      text: `insert into directives (directive_id, workspace_id, text, capo, routed_by, priority, requires_approval, context,
          status, approval_id, work_packet_ids, output, error, history, created_by, created_at, started_at, executed_at)
        select ${id('dir')}, ${own}, ${text(20_000, `'Write a note about order ' || n`)}, ${capo}, 'operator', 'medium', true,
          ${object(60_000)}, case when ${open} then 'pending_approval' when n % 50 = 1 then 'failed' else 'executed' end,
          ${id('apr')}, jsonb_build_array(${id('pkt')}),
          ${object(heavy ? 100_000 : 0)}, jsonb_build_object('code', 'X', 'message', ${text(10_000, `'no'`)}),
          jsonb_build_array(jsonb_build_object('from', null, 'to', 'executed', 'at', 1767225600000, 'receiptId', 'rcp')),
          ${actor}, ${at}, ${at}, case when not (${open}) and n % 50 <> 1 then ${at} end ${each}`,
    },
    {
      table: 'approvals',
      text: `insert into approvals (approval_id, workspace_id, directive_id, capo, kind, round, status, ready, title, summary,
          priority, risk, reversibility, output, packets, content_hash, policy, requested_by, requested_at, expires_at,
          on_expiry, decided_at, decided_by, decided_via, feedback)
        select ${id('apr')}, ${own}, ${id('dir')}, ${capo}, 'output', 1,
          case when ${open} then 'pending' when n % 10 = 1 then 'rejected' when n % 100 = 2 then 'expired' else 'approved' end,
          true, ${text(200, `'Note ' || n`)}, ${text(4_000, `'A note'`)}, 'medium', 'low', 'reversible',
          ${object(heavy ? 100_000 : 0)}, jsonb_build_array(${object(heavy ? 50_000 : 0)} || ${ACTION}), md5(n::text),
          ${object(10)}, ${actor}, ${at}, ${at} + interval '72 hours', 'reject',
          case when not (${open}) then ${at} + interval '5 minutes' end, ${actor}, 'api', ${text(10_000, 'null')} ${each}`,
    },
    {
      table: 'work_packets',
      text: `insert into work_packets (work_packet_id, workspace_id, directive_id, position, capo, engine, title, kind, action_type,
          target, params, reversibility, status, decision, leverage_score, multipliers, rationale, result,
          created_at, executed_at)
        select ${id('pkt')}, ${own}, ${id('dir')}, 0, ${capo}, 'ops', ${text(200, `'File note ' || n`)}, 'document',
          'document.file', ${text(25_000, `'documents'`)}, ${object(100_000)}, 'reversible',
          case when ${open} then 'awaiting_approval' when n % 100 = 1 then 'denied' else 'executed' end,
          jsonb_build_object('outcome', 'allow', 'explanation', jsonb_build_array(${text(10_000, `'yes'`)})),
          1, '{"urgency": 1.5}', ${text(2_000, `'It was asked for.'`)}, ${object(10_000)}, ${at}, ${at} ${each}`,
    },
    {
      table: 'documents',
      text: `insert into documents (document_id, workspace_id, directive_id, work_packet_id, title, body, created_at)
        select ${id('doc')}, ${own}, ${id('dir')}, ${id('pkt')}, ${text(200, `'Note ' || n`)}, ${text(100_000, `'# Note'`)}, ${at} ${each}`,
    },
    {
      table: 'signals',
      text: `insert into signals (signal_id, workspace_id, type, severity, title, body, score, source, created_at, acknowledged_at)
        select ${id('sig')}, ${own}, 'agent', 'info', ${text(200, `'Signal ' || n`)}, ${text(10_000, `'Look.'`)},
          case when n % 2 = 0 then 0.5 end, ${actor}, ${at}, case when n % 4 < 2 then ${at} end ${each}`,
    },
    {
      table: 'receipts',
      text: `insert into receipts (workspace_id, seq, receipt_id, at, actor_type, actor_id, action, entity_type, entity_id, body,
          prev_hash, hash)
        select ${own}, 1000000 + n, ${id('rcp')}, ${at}, 'member', 'mem', 'directive.created', 'directive', ${id('dir')},
          jsonb_build_object('summary', 'A directive was handed in.', 'details', ${object(20_000)})::text,
          md5((n - 1)::text), md5(n::text) ${each}`,
    },
    {
      table: 'revenue_events',
      text: `insert into revenue_events (event_id, workspace_id, amount, currency, source, description, external_id, occurred_at,
          recorded_by, created_at)
        select ${id('rev')}, ${own}, 10.5, case when n % 10 = 0 then 'EUR' else 'USD' end, 'shop', ${text(2_000, 'null')},
          ${heavy ? `lpad(n::text, 200, ${LARGEST})` : 'null'}, ${at}, ${actor}, ${at} ${each}`,
    },
    {
      table: 'standing_orders',
      text: `insert into standing_orders (standing_order_id, workspace_id, name, text, status, effect, match, limits, budget, hash,
          created_by, created_at, updated_at, activated_at)
        select 'so_' || lpad((${firstOrder} + n)::text, 26, '0'), ${own}, 'Order ' || n, ${text(4_000, `'Let it go.'`)}, 'active', 'allow',
          jsonb_build_object('actionTypes', jsonb_build_array('document.file'), 'fields', ${heavy ? object(90_000) : `'{}'::jsonb`}),
          '{"maxPerHour": 1000000, "maxPerDay": 1000000, "maxAmountPerDay": 1000000}',
          '{"window": "month", "amount": 1000000, "currency": "USD", "onExceed": "require_approval"}',
          md5(n::text), ${actor}, now(), now(), now()
        from generate_series(1, ${ORDERS}) n on conflict do nothing`,
    },
    {
      table: 'standing_order_uses',
      text: `insert into standing_order_uses (workspace_id, standing_order_id, work_packet_id, at, amount, currency)
        select ${own}, 'so_' || lpad((${firstOrder} + 1 + n % ${ORDERS})::text, 26, '0'), ${id('pkt')},
          now() - (n % 500000) * interval '31 days' / 500000, 1.5, 'USD' ${each}`,
    },
    {
      table: 'policy_decisions',
      text: `insert into policy_decisions (workspace_id, decision_id, work_packet_id, at, outcome, decision, input, params)
        select ${own}, ${id('dec')}, ${id('pkt')}, ${at}, 'allow', '{"outcome": "allow"}',
          jsonb_build_object('presence', 'away', 'packet', ${object(10_000)}, 'policy', md5('')), ${object(100_000)} ${each}`,
    },
    {
      table: 'webhook_destinations',
      text: `insert into webhook_destinations (destination_id, workspace_id, description, url, events, status, api_version,
          sealed_secret, created_by, created_at)
        values ('whk_' || lpad('1', 26, '0'), ${own}, '', 'https://receiver.example/', '{}', 'active', '2026-04', '-', ${actor}, now())
        on conflict do nothing`,
    },
    {
      table: 'webhook_events',
      text: `insert into webhook_events (event_id, workspace_id, event, request_id, body, created_at)
        select ${id('evt')}, ${own}, 'directive.created', ${id('req')}, '{}', ${at} ${each}`,
    },
    {
      table: 'webhook_deliveries',
      text: `insert into webhook_deliveries (delivery_id, workspace_id, destination_id, event_id, event, status, attempts, created_at)
        select ${id('dlv')}, ${own}, 'whk_' || lpad('1', 26, '0'), ${id('evt')}, 'directive.created', 'delivered',
          (select jsonb_agg(jsonb_build_object('n', k, 'at', 1767225600000, 'status', 200, 'durationMs', 4, 'error', null,
            'answer', ${text(2_048, `'ok'`)})) from generate_series(1, ${heavy ? 5 : 1}) k), ${at} ${each}`,
    },
    {
      table: 'partner_events',
      text: `insert into partner_events (workspace_id, partner_event_id, content_hash, customer_entitlement_id, partner_target_id,
          metric, delta, new_confidence, fired_at, received_at, signal_id)
        select ${own}, 'e' || n, md5(n::text), 'buyer' || n % 1000, 'target', 'trust', 0.1, 0.5, ${at}, ${at}, ${id('sig')} ${each}`,
    },
  ];
}
