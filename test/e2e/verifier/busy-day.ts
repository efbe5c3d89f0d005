import { randomInt } from 'node:crypto';
import type { DraftPacket } from '../../../src/features/capos/briefing.js';
import { Client } from '../../support/client.js';
import { draftPacket, ScriptedRunner } from '../../support/scripted-runner.js';
import { eventually, type TestApp, type TestWorkspace } from '../../support/test-app.js';
import { OrderDesk } from '../standing-orders/order-desk.js';

const MINUTE = 60_000;
const DOMAINS = ['acme.example', 'globex.example', 'initech.example'];
const CAPOS = ['capo_marketing', 'capo_revenue', 'capo_ops'] as const;
const ENDED = ['executed', 'pending_approval', 'failed'];

/** In force all day, so that every day has something to count. */
const EVERYTHING = {
  name: 'Everything',
  effect: 'allow',
  match: { actionTypes: ['email.send', 'document.file', 'revenue.record'] },
  limits: { maxPerHour: 20, maxPerDay: 200, maxAmountPerDay: 5_000 },
  budget: { window: 'day', amount: 4_000, currency: 'EUR', warnPercent: 80 },
};

const NOTHING = { name: 'Nothing', effect: 'deny', match: EVERYTHING.match };
const OTHER_EYES = {
  name: 'Other eyes',
  effect: 'require_approval',
  match: EVERYTHING.match,
  approval: { selfApproval: false },
};

/** What may come between a decision and the moment at which a work packet leaves. */
const CHANGES = ['nothing', 'order', 'deny', 'eyes', 'mode'] as const;

/** Keeps what may be sent from being sent until it is made due. */
const HOLD_BACK = `
  create or replace function held_back() returns trigger language plpgsql as $$
  begin
    new.due_at := now() + interval '1 hour';
    return new;
  end $$;
  create trigger held_back before insert on work_items for each row when (new.kind = 'packet.send')
    execute function held_back()`;

const SALE = draftPacket({
  type: 'revenue.record',
  params: { amount: 12.34, currency: 'EUR', source: 'shop' },
});

const any = <T>(list: readonly T[]): T => list[randomInt(list.length)]!;

/**
 * A day at random: directives of two teams and of the whole workspace, drafts of several work packets, orders with limits
 * and budgets that come, pause and go, modes, a kill, a presence, an edit. Its receipts are what is left of it.
 */
export class BusyDay {
  readonly #runner: ScriptedRunner;
  readonly #desk: OrderDesk;
  readonly #orders: string[] = [];
  #teams: (string | null)[] = [null];
  #n = 0;

  constructor(
    private readonly test: TestApp,
    private readonly workspace: TestWorkspace,
  ) {
    this.#runner = new ScriptedRunner(test);
    this.#desk = new OrderDesk(test);
  }

  /** From another address each time. */
  get owner(): Client {
    return new Client(this.test.url, this.workspace.owner.token);
  }

  async pass(steps: number): Promise<void> {
    const { workspaceId } = this.workspace;
    this.#teams = [
      null,
      await this.test.createTeam(workspaceId, 'A'),
      await this.test.createTeam(workspaceId, 'B'),
    ];
    // In which zone days begin is known from the first receipt about it.
    await this.put('/settings', { timezone: 'Pacific/Auckland' });
    this.test.clock.advance(2 * MINUTE);
    await this.#desk.active(EVERYTHING, this.workspace.owner);
    for (let n = 0; n < 3; n++) await this.directive([SALE]);
    await this.edit();
    await this.late(true, 'deny');
    await this.late(true, 'eyes');
    await this.late(false, 'mode');
    await this.order();
    for (let step = 0; step < steps; step++) {
      await this.step(step, steps);
      this.test.clock.advance(randomInt(1, 30) * MINUTE);
    }
    // What was approved last is still being sent.
    await eventually(
      () =>
        this.test.rows(`select 1 from work_items where workspace_id = $1 and (claimed or due_at <= now())`, [
          workspaceId,
        ]),
      (due) => due.length === 0,
      30,
    );
  }

  private async step(step: number, steps: number): Promise<void> {
    if (step === Math.floor(steps / 2)) return this.killAndRevert();
    const dice = randomInt(20);
    if (dice === 0)
      await this.put('/guardian/mode', { mode: any(['supervised', 'autonomous', 'guardrailed']) });
    else if (dice === 1) await this.put('/settings', { presence: any(['present', 'away']) });
    else if (dice < 5) await this.order();
    else if (dice < 7) await this.changeOrder();
    else if (dice === 9) await this.makeDue();
    else if (dice < 9) await this.late(randomInt(2) === 0, any(CHANGES));
    else await Promise.all([this.directive(), this.directive()]);
  }

  private async order(): Promise<void> {
    const effect = any(['allow', 'allow', 'allow', 'throttle', 'require_approval', 'deny']);
    const isLimited = effect === 'allow' || effect === 'throttle';
    const actionTypes = any([
      ['email.send'],
      ['document.file'],
      ['revenue.record'],
      ['email.send', 'document.file', 'revenue.record'],
    ]);
    const order = {
      name: `Order ${++this.#n}`,
      effect,
      teamId: any(this.#teams),
      match: {
        actionTypes,
        ...(actionTypes.includes('email.send') &&
          randomInt(2) === 0 && { fields: { 'params.to': { $domainIn: [any(DOMAINS)] } } }),
      },
      ...(isLimited && {
        limits: any([
          { maxPerHour: 3 },
          { maxPerDay: 12 },
          { maxPerHour: 5, maxPerDay: 30, maxAmountPerDay: 900 },
        ]),
      }),
      ...(isLimited &&
        actionTypes.includes('revenue.record') && {
          budget: { window: any(['day', 'week', 'month']), amount: 1_500, currency: 'EUR', warnPercent: 50 },
        }),
      ...(randomInt(4) === 0 && { when: { presence: ['present'] } }),
      ...(randomInt(4) === 0 && { expiresAt: this.test.clock.now() + randomInt(60, 600) * MINUTE }),
    };
    // What denies everything would leave nothing to count.
    if (effect === 'deny') {
      order.match = {
        actionTypes: ['email.send'],
        fields: { 'params.to': { $domainIn: ['initech.example'] } },
      };
    }
    const id = await this.#desk.create(order, this.workspace.owner);
    await this.#desk.activate(id, this.workspace.owner);
    this.#orders.push(id);
  }

  private async changeOrder(): Promise<void> {
    const path = `/standing-orders/${any(this.#orders)}`;
    if (randomInt(3) === 0) await this.owner.delete(path);
    else await this.owner.post(`${path}/pause`);
    if (randomInt(2) === 0) await this.owner.post(`${path}/activate`, { acknowledge: true, version: 1 });
  }

  private async directive(packets?: DraftPacket[]): Promise<void> {
    const directiveId = await this.handIn(packets, !packets && randomInt(6) === 0);
    const { approvalId } = await this.until(directiveId, ...ENDED);
    if (approvalId && randomInt(3) === 0) await this.approve(approvalId);
  }

  private async approve(approvalId: string): Promise<void> {
    // Once its draft is there.
    await this.owner.get(`/approvals/${approvalId}?wait=10`);
    await this.owner.post(`/approvals/${approvalId}/approve`);
  }

  /** What an order delays is decided again as if its time had come. */
  private async makeDue(): Promise<void> {
    await this.test.rows(
      `update work_items set due_at = now() where kind = 'packet.send' and due_at < 'infinity'`,
    );
  }

  private until(directiveId: string, ...statuses: string[]): Promise<{ approvalId: string | null }> {
    return eventually(
      async () => (await this.owner.get(`/directives/${directiveId}`)).body,
      ({ status, throttledUntil }) =>
        statuses.includes(status) || (status === 'sending' && Boolean(throttledUntil)),
      30,
    );
  }

  private async handIn(packets: DraftPacket[] | undefined, requiresApproval: boolean): Promise<string> {
    const text = `Do as agreed ${++this.#n}`;
    const capo = packets ? 'capo_revenue' : any(CAPOS);
    this.#runner.answer(text, {
      packets: packets ?? Array.from({ length: randomInt(1, 4) }, () => packetOf(capo)),
    });
    const teamId = any(this.#teams);
    const { status, body } = await this.owner.post('/directives', {
      directive: text,
      capo,
      requiresApproval,
      ...(teamId && { teamId }),
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.directiveId;
  }

  /** Work packets that wait to be sent while the day goes on and something changes: decided again as they leave. */
  private async late(isForPerson: boolean, change: (typeof CHANGES)[number]): Promise<void> {
    await this.test.rows(HOLD_BACK);
    const directiveId = await this.handIn([SALE, SALE], isForPerson);
    const { approvalId } = await this.until(directiveId, 'sending', ...ENDED);
    if (approvalId) await this.approve(approvalId);
    this.test.clock.advance(randomInt(1, 90) * MINUTE);
    const came = { deny: NOTHING, eyes: OTHER_EYES }[change as string];
    const added = came && (await this.#desk.active(came, this.workspace.owner));
    if (change === 'order') await this.changeOrder();
    if (change === 'mode') await this.put('/guardian/mode', { mode: 'supervised' });
    await this.test.rows('drop trigger held_back on work_items');
    await this.makeDue();
    await this.until(directiveId, ...ENDED);
    if (added) await this.owner.delete(`/standing-orders/${added}`);
    if (change === 'mode') await this.put('/guardian/mode', { mode: 'guardrailed' });
  }

  private async edit(): Promise<void> {
    const { approvalId } = await this.until(await this.handIn([SALE], true), ...ENDED);
    const path = `/approvals/${approvalId}`;
    const { contentHash } = (await this.owner.get(`${path}?wait=10`)).body;
    const add = [{ action: { type: 'document.file', params: { title: 'Note', body: 'As agreed.' } } }];
    const { status, text } = await this.owner.send(
      'PATCH',
      path,
      { add },
      { 'If-Match': `"${contentHash}"` },
    );
    if (status !== 200) throw new Error(text);
  }

  private async killAndRevert(): Promise<void> {
    await this.owner.post('/guardian/kill-switch', { reason: 'something is wrong' });
    await this.owner.post('/guardian/revert', {});
  }

  private async put(path: string, body: object): Promise<void> {
    const { status, text } = await this.owner.put(path, body);
    if (status !== 200) throw new Error(text);
  }
}

function packetOf(capo: (typeof CAPOS)[number]): DraftPacket {
  const dice = randomInt(3);
  if (dice === 0 && capo === 'capo_revenue') {
    const [amount, currency] = [randomInt(1, 40_000) / 100, any(['EUR', 'EUR', 'USD'])];
    return draftPacket({ type: 'revenue.record', params: { amount, currency, source: 'shop' } });
  }
  if (dice === 1 || capo === 'capo_ops') {
    return draftPacket({ type: 'document.file', params: { title: 'Memo', body: 'As agreed.' } });
  }
  const to = [`jane@${any(DOMAINS)}`];
  return draftPacket({ type: 'email.send', params: { to, subject: 'As agreed', body: 'As agreed.' } });
}
