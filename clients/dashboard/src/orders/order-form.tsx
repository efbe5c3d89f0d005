import { APIError, type SimulationView } from '@consigliere/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useState } from 'react';
import { useMe } from '../me.js';
import { Failure } from '../ui/failure.js';
import { Field } from '../ui/form.js';
import { useTyped } from '../ui/typed.js';
import type { Order } from './order.js';
import { OrderFields } from './order-fields.js';
import { Rule } from './rule.js';
import { Changes } from './simulation.js';

interface Given<T> {
  /** What it is about, for what is typed. */
  about: string;
  isNew?: boolean;
  before: Order;
  verb: string;
  act: (order: Order) => PromiseLike<T>;
  onDone: (result: T) => unknown;
  children?: ReactNode;
}

/** An order as fields, and beside them the same as JSON: what is written in one shows in the other. */
export function OrderForm<T>({ about, isNew = false, before, verb, act, onDone, children }: Given<T>) {
  const queries = useQueryClient();
  const me = useMe();
  const { typed, type, forget } = useTyped(about);
  const text = typed['json'] ?? JSON.stringify(before, null, 2);
  const { order, fault } = read(text);
  const [lastGood, setLastGood] = useState(before);
  const write = (next: string) => {
    const { order: good } = read(next);
    if (good) setLastGood(good);
    type('json', next);
  };
  const acting = useMutation({
    mutationFn: async () => act(order!),
    onSuccess: async (result) => {
      forget();
      onDone(result);
      await queries.invalidateQueries({ queryKey: ['standing_order'] });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (order) acting.mutate();
  };
  const simulation =
    acting.error instanceof APIError &&
    acting.error.code === 'SIMULATION_REQUIRED' &&
    (acting.error.details as { simulation: SimulationView }).simulation;
  return (
    <form onSubmit={submit}>
      <div className="beside">
        <div>
          {me && (
            <OrderFields
              order={order ?? lastGood}
              me={me}
              isNew={isNew}
              onChange={(next) => write(JSON.stringify(next, null, 2))}
            />
          )}
        </div>
        <div>
          <Rule order={order ?? lastGood} />
          <Field label="The same as JSON" hint="for what has no field">
            <textarea
              className="json"
              spellCheck={false}
              value={text}
              aria-invalid={fault !== undefined}
              onChange={({ target }) => write(target.value)}
            />
          </Field>
          {fault !== undefined && (
            <p className="warning" role="alert">
              {fault}
            </p>
          )}
        </div>
      </div>
      {children}
      {acting.error && <Failure error={acting.error} />}
      {simulation && <Changes simulation={simulation} />}
      <button type="submit" className="primary" disabled={!order || acting.isPending}>
        {verb}
      </button>
    </form>
  );
}

/** What the text says, or why it says nothing. */
function read(text: string): { order?: Order; fault?: string } {
  try {
    const order = JSON.parse(text) as Order;
    if (
      typeof order !== 'object' ||
      order === null ||
      typeof order.match !== 'object' ||
      order.match === null
    )
      return { fault: 'An order is an object with name, effect and match.' };
    return { order: { ...order, name: order.name ?? '' } };
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` };
  }
}
