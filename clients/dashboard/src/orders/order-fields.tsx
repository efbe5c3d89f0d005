import type { BootstrapView } from '@consigliere/sdk';
import { useQuery } from '@tanstack/react-query';
import { client } from '../session.js';
import { Field } from '../ui/form.js';
import { NamesField } from '../ui/names-field.js';
import { readAll } from '../ui/read-all.js';
import { EFFECT_CHOICES, type Order } from './order.js';

type Limit = keyof NonNullable<Order['limits']>;
const LIMITS: Record<Limit, string> = {
  maxPerHour: 'At most in an hour',
  maxPerDay: 'At most in a day',
  maxRecipients: 'Recipients of each at most, such as 1',
  maxAmountPerDay: 'Sum of the amounts of a day at most',
};

const SUBJECT = 'params.subject';

/** What can be named: action types of the capos, tools, agents, and the domains of whom work went to lately. */
function useKnown() {
  return useQuery({
    queryKey: ['tool', 'known-names'],
    queryFn: async ({ signal }) => {
      const [engines, tools, agents, packets] = await Promise.all([
        client.engines.list(),
        readAll((page) => client.tools.list(page), signal),
        client.agents.list(),
        client.workPackets.list({ limit: 100 }),
      ]);
      const unique = (names: readonly string[]) => [...new Set(names)].toSorted();
      return {
        actions: unique([
          ...engines.items.flatMap(({ actionTypes }) => actionTypes.map(({ type }) => type)),
          ...tools.rows.map(({ name }) => name),
        ]),
        agents: unique(agents.outsideAgents.map(({ name }) => name)),
        domains: unique(
          packets.items.flatMap(({ action }) =>
            [...(action.target ?? '').matchAll(/@([\w.-]+)/g)].map(([, domain]) => domain!),
          ),
        ),
      };
    },
    staleTime: 60_000,
  }).data;
}

/** The order with a condition on a path set or taken out; what else it says about that path stays. */
function withCondition(order: Order, path: string, operator: string, operand: unknown): Order {
  const { [path]: before, ...others } = order.match.fields ?? {};
  const { [operator]: _former, ...condition } = (before ?? {}) as Record<string, unknown>;
  if (operand !== undefined) condition[operator] = operand;
  const fields = Object.keys(condition).length === 0 ? others : { ...others, [path]: condition };
  const { fields: _fields, ...match } = order.match;
  return { ...order, match: { ...match, ...(Object.keys(fields).length > 0 && { fields }) } };
}

/** Where an order says a condition already, under the name of the parameter; else the name that all tools have. */
function pathIn(order: Order, common: string, parameter: string, operator: string): string {
  return operandOf(order, parameter, operator) === undefined ? common : parameter;
}

function operandOf(order: Order, path: string, operator: string): unknown {
  return (order.match.fields?.[path] as Record<string, unknown> | undefined)?.[operator];
}

/** The order with what is named, or without it where there is nothing. */
function withPart<Name extends keyof Order>(order: Order, name: Name, part: Order[Name] | undefined): Order {
  const { [name]: _before, ...others } = order;
  const isEmpty = typeof part === 'object' && part !== null && Object.keys(part).length === 0;
  return (part === undefined || isEmpty ? others : { ...others, [name]: part }) as Order;
}

function withCapo(order: Order, role: string, isNamed: boolean): Order {
  const others = (order.capos ?? []).filter((one) => one !== role);
  const capos = isNamed ? [...others, role as (typeof others)[number]] : others;
  return withPart(order, 'capos', capos.length > 0 ? capos : undefined);
}

function withMatch(order: Order, name: 'actionTypes' | 'agents', names: string[]): Order {
  const { [name]: _before, ...match } = order.match;
  return { ...order, match: { ...match, ...(names.length > 0 && { [name]: names }) } };
}

/** The usual parts of an order as fields. What has no field stays as the JSON says it. */
export function OrderFields({
  order,
  onChange,
  me,
  isNew,
}: {
  order: Order;
  onChange: (order: Order) => void;
  me: BootstrapView;
  /** The team of an order stays. */
  isNew: boolean;
}) {
  const { currency } = me.workspace;
  const known = useKnown();
  const recipients = pathIn(order, 'target', 'params.to', '$domainIn');
  const limits = order.limits ?? {};
  const budget = order.budget ?? undefined;
  const isPaced = order.effect === 'allow' || order.effect === 'throttle';
  return (
    <>
      <Field label="Name">
        <input
          required
          maxLength={120}
          value={order.name}
          onChange={({ target }) => onChange({ ...order, name: target.value })}
        />
      </Field>
      {isNew && me.teams.length > 0 && (
        <Field label="For">
          <select
            value={order.teamId ?? ''}
            onChange={({ target }) => onChange({ ...order, teamId: target.value || null })}
          >
            <option value="">the whole workspace</option>
            {me.teams.map(({ teamId, name }) => (
              <option key={teamId} value={teamId}>
                the team {name}
              </option>
            ))}
          </select>
        </Field>
      )}
      <Field label="What it does">
        <select
          value={order.effect}
          onChange={({ target }) => onChange({ ...order, effect: target.value as Order['effect'] })}
        >
          {Object.entries(EFFECT_CHOICES).map(([effect, words]) => (
            <option key={effect} value={effect}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <NamesField
        label="What it is about"
        hint="action types and tools, such as email.send or crm.*, each added with Enter; none: everything"
        known={known?.actions ?? []}
        values={order.match.actionTypes ?? []}
        onChange={(names) => onChange(withMatch(order, 'actionTypes', names))}
      />
      <NamesField
        label="Only for recipients at"
        hint="domains, such as acme.example"
        known={known?.domains ?? []}
        values={(operandOf(order, recipients, '$domainIn') as string[] | undefined) ?? []}
        onChange={(names) =>
          onChange(withCondition(order, recipients, '$domainIn', names.length > 0 ? names : undefined))
        }
      />
      <Field
        label="Only where the subject of the mail begins with"
        hint="exactly as written, with its capital letters, such as Your order; left out: any subject"
      >
        <input
          maxLength={500}
          value={(operandOf(order, SUBJECT, '$prefix') as string | undefined) ?? ''}
          onChange={({ target }) =>
            onChange(withCondition(order, SUBJECT, '$prefix', target.value === '' ? undefined : target.value))
          }
        />
      </Field>
      <Field label="And ends with" hint="exactly as written, such as has shipped; left out: however it ends">
        <input
          maxLength={500}
          value={(operandOf(order, SUBJECT, '$suffix') as string | undefined) ?? ''}
          onChange={({ target }) =>
            onChange(withCondition(order, SUBJECT, '$suffix', target.value === '' ? undefined : target.value))
          }
        />
      </Field>
      <fieldset>
        <legend>
          Only for these capos{' '}
          <span className="quiet">
            the built-in assistants that draft what you hand in; none: all of them
          </span>
        </legend>
        {me.capos.map(({ role, name }) => (
          <label key={role} className="check">
            <input
              type="checkbox"
              checked={order.capos?.some((one) => one === role) ?? false}
              onChange={({ target }) => onChange(withCapo(order, role, target.checked))}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <NamesField
        label="Only for these agents"
        hint="programs from outside, by the name of their token; none named: all that ask for what is named above, or none where capos are ticked"
        known={known?.agents ?? []}
        values={order.match.agents ?? []}
        onChange={(names) => onChange(withMatch(order, 'agents', names))}
      />
      <NumberField
        label="Only for amounts up to"
        value={
          operandOf(order, pathIn(order, 'amount', 'params.amount', '$lte'), '$lte') as number | undefined
        }
        onChange={(amount) =>
          onChange(withCondition(order, pathIn(order, 'amount', 'params.amount', '$lte'), '$lte', amount))
        }
      />
      <NumberField
        label="Only for amounts above"
        value={operandOf(order, pathIn(order, 'amount', 'params.amount', '$gt'), '$gt') as number | undefined}
        onChange={(amount) =>
          onChange(withCondition(order, pathIn(order, 'amount', 'params.amount', '$gt'), '$gt', amount))
        }
      />
      {isPaced && (
        <fieldset>
          <legend>Limits</legend>
          {(Object.keys(LIMITS) as Limit[]).map((limit) => (
            <NumberField
              key={limit}
              label={LIMITS[limit]}
              value={limits[limit] ?? undefined}
              onChange={(most) => {
                const { [limit]: _before, ...others } = limits;
                onChange(
                  withPart(order, 'limits', most === undefined ? others : { ...others, [limit]: most }),
                );
              }}
            />
          ))}
        </fieldset>
      )}
      {isPaced && (
        <fieldset>
          <legend>Budget</legend>
          <NumberField
            label={`Spent at most, in ${budget?.currency ?? currency}`}
            value={budget?.amount}
            onChange={(amount) =>
              onChange(
                withPart(
                  order,
                  'budget',
                  amount === undefined ? undefined : { window: 'month', currency, ...budget, amount },
                ),
              )
            }
          />
          {budget && (
            <Field label="In each">
              <select
                value={budget.window}
                onChange={({ target }) =>
                  onChange({ ...order, budget: { ...budget, window: target.value as 'day' } })
                }
              >
                <option>day</option>
                <option>week</option>
                <option>month</option>
              </select>
            </Field>
          )}
        </fieldset>
      )}
      {order.effect === 'require_approval' && (
        <NumberField
          label="How many people have to approve"
          value={order.approval?.quorum ?? undefined}
          onChange={(quorum) => {
            const { quorum: _before, ...others } = order.approval ?? {};
            onChange(withPart(order, 'approval', quorum === undefined ? others : { ...others, quorum }));
          }}
        />
      )}
      <Field label="Ends" hint="left out: never">
        <input
          type="datetime-local"
          value={order.expiresAt ? localOf(order.expiresAt) : ''}
          onChange={({ target }) =>
            onChange(
              withPart(order, 'expiresAt', target.value ? new Date(target.value).getTime() : undefined),
            )
          }
        />
      </Field>
    </>
  );
}

function NumberField({
  label,
  value,
  onChange,
}: {
  label: string;
  value: number | undefined;
  onChange: (value: number | undefined) => void;
}) {
  return (
    <Field label={label}>
      <input
        type="number"
        min={0}
        step="any"
        value={value ?? ''}
        onChange={({ target }) => onChange(target.value === '' ? undefined : Number(target.value))}
      />
    </Field>
  );
}

/** A moment as the field of a date and time has it, in the zone of the reader. */
function localOf(at: number): string {
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
